"""Files of a folder that others use too, replaced, made and deleted in groups; each only if it still is as it was.

    answers = change_files(rooted, [FileSwap(("src", "a.py"), before="sha256:...", data=b"...")])

Rules
  - Every file is as before or as wanted, and never in between; so it is after a kill, and after a power cut. What is
    answered as done is on the disk.
  - All contents are written and synced under other names before the first file is replaced. If the disk fails until
    then, or is full, nothing is changed, and all answers say so. After that there are only renames.
  - Right before each rename the caller is asked whether it still waits (`wanted`). If it does not, no rename is begun
    any more.
  - A file that is not fit (fitness.py), or not as it was, is left alone, and the others of its group are changed. What
    a race can still do stands in swapping.py.
  - Names are opened one below the other, and no link is followed (rooted.py). Between the steps no descriptor is kept,
    so a group may have more folders than a process may have files open; a folder that is another one now is left alone.
    If somebody moves a whole folder out of the root between two of our calls, the change of its file goes along.
  - Folders that are missing are made for a new file, and removed again if nothing came of it.
  - What a killed process has left is swept when the next one writes there (drafts.py).

Everything here blocks: call it in a thread.
"""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from codec.agent.files import digest_of
from transports.folder.drafts import MANY, Sheet, whole_disk, write_drafts
from transports.folder.fitness import PERMISSIONS, ChangedSince, Manner, NotFit, check_names, check_writable, fit_file
from transports.folder.rooted import Names, NotPlain, Rooted
from transports.folder.swapping import Checked, is_as, move_aside, name_new, remove_all, replace
from transports.folder.whole_files import opened, tidy

_OF_ONE = (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EEXIST, errno.EBUSY)
"""Errors that say something of a single file. Any other is one of the disk."""

_MOVED = "has lost its folder: it was moved meanwhile"

Answer = str | OSError | None
Step = Callable[[str], None]


def always() -> bool:
    return True


class FileSwap(Struct, frozen=True):
    names: tuple[str, ...]
    before: str | None
    """The digest of the file that is there. None: there must be none."""
    data: bytes | None
    """None: it is deleted."""
    mode: int | None = None
    """None: that of the file before it, or of a new one."""


def change_files(
    rooted: Rooted,
    swaps: Sequence[FileSwap],
    at: Step = lambda step: None,
    made: list[Names] | None = None,
    wanted: Callable[[], bool] = always,
) -> list[Answer]:
    """For each the digest of the new file; None, if there is none now; or why it was left as it is. `at` is called
    between the steps: tests end the process there, or change what it works upon. Into `made` come the folders that
    were made for new files, and stay. `wanted`: whether anybody still waits for it."""
    group = _SwapGroup(rooted, swaps, at, wanted)
    answers = group.done()
    if made is not None:
        made.extend(group.stay)
    return answers


def remove_empty(rooted: Rooted, folders: Sequence[Names]) -> list[Names]:
    """Removes those that are empty, the deepest first, and says which."""
    gone = []
    for names in sorted(set(folders), key=len, reverse=True):
        with suppress(OSError):  # it is not empty, or no folder any more, or not ours to remove
            with opened(rooted, names) as here:
                tidy(here)
            with opened(rooted, names[:-1]) as above:
                os.rmdir(names[-1], dir_fd=above)
                gone.append(names)
                os.fsync(above)
    return gone


class Unsure(OSError):
    """The file is changed, but the disk failed before that was sure to stay."""


class NotWanted(OSError):
    """Whoever asked for it has given it up."""


class _SwapGroup:
    def __init__(self, rooted: Rooted, swaps: Sequence[FileSwap], at: Step, wanted: Callable[[], bool]) -> None:
        self._rooted = rooted
        self._swaps = swaps
        self._at = at
        self._wanted = wanted
        self._answers: dict[int, Answer] = {}
        self._folders: dict[Names, list[int]] = {}
        self._which: dict[Names, tuple[int, int]] = {}
        """The folders' own numbers: not every folder of the same name is the same."""
        self._drafts: dict[int, tuple[str, int]] = {}
        """Each with its file's number."""
        self._modes: dict[int, int] = {}
        self._aside: list[tuple[Names, str]] = []
        """Files that were replaced or are deleted, by their folders and the names that they have now."""
        self._made: list[Names] = []
        self.stay: list[Names] = []
        """Folders that were made, and are left there."""
        self._unsure: set[int] = set()
        """Done, and not yet synced."""
        self._at_once = False
        """Everything is synced with its whole disk."""
        self._disks: dict[int, int] = {}
        """For that, a descriptor of a folder on each."""

    def done(self) -> list[Answer]:
        self._sort()
        try:
            for folder, numbers in self._folders.items():
                self._prepare(folder, numbers)
            self._sync_disks()
            self._at("drafts synced")
            for folder, numbers in self._folders.items():
                self._commit(folder, [number for number in numbers if number not in self._answers])
            self._sync_disks()
            self._sync_above()
            self._unsure.clear()
            self._at("folders synced")
        except OSError as error:  # of the disk
            for number in range(len(self._swaps)):
                self._answers.setdefault(number, error)
            for number in self._unsure:
                self._answers[number] = Unsure(error.errno, error.strerror)
        finally:
            self._clear()
        return [self._answers[number] for number in range(len(self._swaps))]

    def _sort(self) -> None:
        seen = set()
        for number, swap in enumerate(self._swaps):
            try:
                check_names(swap.names)
                if swap.names in seen:
                    raise NotFit("is named twice in one change")
                if swap.mode is not None and swap.mode & ~PERMISSIONS:
                    raise NotFit("would get rights that no file gets here")
            except OSError as error:
                self._answers[number] = error
            else:
                seen.add(swap.names)
                self._folders.setdefault(swap.names[:-1], []).append(number)
        written = sum(self._swaps[number].data is not None for each in self._folders.values() for number in each)
        self._at_once = max(written, len(self._folders)) >= MANY and whole_disk.may_be_synced()

    # -- drafts

    def _prepare(self, folder: Names, numbers: Sequence[int]) -> None:
        self._check_wanted()
        new = any(self._swaps[number].before is None and self._swaps[number].data is not None for number in numbers)
        try:
            with opened(self._rooted, folder, self._made if new else None) as here:
                tidy(here)
                status = os.fstat(here)
                check_writable(status)
                self._which[folder] = (status.st_dev, status.st_ino)
                if self._at_once and status.st_dev not in self._disks:
                    self._disks[status.st_dev] = os.dup(here)
                self._draft(here, numbers)
        except FileNotFoundError:
            for number in numbers:
                self._answers.setdefault(number, _without_folder(self._swaps[number]))
        except OSError as error:
            _raise_the_disk_s(error)
            if isinstance(error, NotFit):
                error = NotFit(f"cannot be changed: its folder {error}")
            for number in numbers:
                self._answers.setdefault(number, error)

    def _draft(self, here: int, numbers: Sequence[int]) -> None:
        sheets: dict[int, Sheet] = {}
        for number in numbers:
            try:
                sheet = self._sheet(here, number)
            except OSError as error:
                _raise_the_disk_s(error)
                self._answers[number] = error
            else:
                if sheet is not None:
                    sheets[number] = sheet
        drafts = write_drafts(here, list(sheets.values()), sync=not self._at_once)
        failed: OSError | None = None
        for number, draft in zip(sheets, drafts, strict=True):
            if isinstance(draft, OSError):
                failed = draft if _is_the_disk_s(draft) else failed
                self._answers[number] = draft
            else:
                self._drafts[number] = draft, os.stat(draft, dir_fd=here, follow_symlinks=False).st_ino
        self._at("drafts written")
        if failed is not None:
            raise failed

    def _sheet(self, here: int, number: int) -> Sheet | None:
        """What is to be written for it. None: nothing."""
        swap = self._swaps[number]
        if swap.before is None:
            _check_absent(here, swap.names[-1])
            if swap.data is None:
                self._answers[number] = None
                return None
            mode = swap.mode
            if mode is None:
                return Sheet(swap.data, 0o666)
            return Sheet(swap.data, finish=lambda file: os.fchmod(file, mode))
        with self._as_it_was(here, swap) as (file, status):
            check_writable(status)
            self._modes[number] = status.st_mode
            if swap.data is None:
                return None
            manner = Manner(file, status)
        return Sheet(swap.data, finish=lambda draft: manner.give(draft, swap.mode))

    @contextmanager
    def _as_it_was(self, here: int, swap: FileSwap) -> Iterator[tuple[int, os.stat_result]]:
        try:
            with fit_file(self._rooted, here, swap.names) as (file, status):
                if not is_as(file, swap.before):
                    raise ChangedSince("has changed since it was read")
                yield file, status
        except FileNotFoundError:
            raise ChangedSince("is not there any more") from None

    # -- renames

    def _commit(self, folder: Names, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        try:
            with opened(self._rooted, folder) as here:
                status = os.fstat(here)
                if (status.st_dev, status.st_ino) != self._which[folder]:
                    raise ChangedSince(_MOVED)
                for number in numbers:
                    self._commit_one(here, number)
                if not self._at_once:
                    os.fsync(here)
                    self._unsure.clear()
        except OSError as error:
            _raise_the_disk_s(error)
            for number in numbers:
                self._answers.setdefault(number, ChangedSince(_MOVED))

    def _commit_one(self, here: int, number: int) -> None:
        swap = self._swaps[number]
        name = swap.names[-1]
        try:
            if swap.before is None:
                self._check_wanted()
                name_new(here, self._drafts[number][0], name)
            else:
                with self._still_as_it_was(here, number) as (file, status):
                    self._at("checked")
                    self._check_wanted()
                    there = Checked(here, name, file, status.st_ino, swap.before, self._at)
                    aside = move_aside(there) if swap.data is None else replace(there, *self._drafts[number])
                if aside is not None:
                    self._aside.append((swap.names[:-1], aside))
            self._drafts.pop(number, None)
        except OSError as error:
            self._answers[number] = error
            _raise_the_disk_s(error)
        else:
            self._answers[number] = None if swap.data is None else digest_of(swap.data)
            self._unsure.add(number)
        self._at("renamed")

    @contextmanager
    def _still_as_it_was(self, here: int, number: int) -> Iterator[tuple[int, os.stat_result]]:
        with self._as_it_was(here, self._swaps[number]) as (file, status):
            if status.st_mode != self._modes[number]:
                raise ChangedSince("has got other permissions since it was read")
            yield file, status

    def _check_wanted(self) -> None:
        if not self._wanted():
            raise NotWanted("was given up")

    # -- syncing, and what is left

    def _sync_disks(self) -> None:
        for here in self._disks.values():
            if (error := whole_disk.sync(here)) is not None:
                raise error

    def _sync_above(self) -> None:
        """The folders in which others were made."""
        for folder in {names[:-1] for names in self._made} if not self._at_once else ():
            try:
                with opened(self._rooted, folder) as here:
                    os.fsync(here)
            except OSError as error:  # it has gone
                _raise_the_disk_s(error)

    def _clear(self) -> None:
        left = [(self._swaps[number].names[:-1], draft) for number, (draft, _) in self._drafts.items()]
        remove_all(self._rooted, [*self._aside, *left])
        for names in reversed(self._made):
            try:
                with opened(self._rooted, names[:-1]) as here:
                    os.rmdir(names[-1], dir_fd=here)
            except OSError:  # there is something in it
                self.stay.append(names)
        for here in self._disks.values():
            os.close(here)


# -- steps


def _without_folder(swap: FileSwap) -> ChangedSince | None:
    if swap.before is not None:
        return ChangedSince("is not there any more")
    return None if swap.data is None else ChangedSince("cannot be made: its folder was removed meanwhile")


def _check_absent(here: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=here, follow_symlinks=False)
        raise ChangedSince("is there already")


def _is_the_disk_s(error: OSError) -> bool:
    return not isinstance(error, (ChangedSince, NotFit, NotPlain)) and error.errno not in _OF_ONE


def _raise_the_disk_s(error: OSError) -> None:
    if _is_the_disk_s(error):
        raise error
