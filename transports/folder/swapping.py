"""One file of a folder that others use too: it is replaced or deleted, though it could be saved at any moment.

Between a look at a file and its rename there is always time for somebody else, so the looks are two. A file is read by
its descriptor just before. Then it and its draft exchange their names, in one step, and what has been replaced is read
once more, where the draft was: if it is another file, or has changed, the names are exchanged back, and a save made
meanwhile is not lost. Likewise a file is moved aside first, and deleted when it has been read there.

What a race can still do
  - A program that holds a file open and writes into it in place after the second look writes into a file without a
    name.
  - If we are killed between the exchange and the second look, and somebody has saved in the microseconds before, that
    save is among the drafts, and swept with them.
  - Where the kernel or the file system has no exchange (macOS, FAT), a save between the first look and the rename is
    lost.

Everything here blocks: call it in a thread.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby

from msgspec import Struct

from codec.agent.files import digest_of
from transports.folder.drafts import FEW, THREADS, discard, exchange, new_draft, rename_new, together
from transports.folder.fitness import ChangedSince
from transports.folder.rooted import Names, Rooted
from transports.folder.whole_files import LARGEST, opened, read_again

LONGEST_KEPT = 50
"""Characters of a name that goes on in that of what is kept beside it."""


class Checked(Struct, frozen=True):
    """A file that has been looked at once."""

    here: int
    name: str
    file: int
    """Open for reading."""
    number: int
    """The file's number, which does not depend on its name."""
    digest: str
    at: Callable[[str], None]

    def is_under(self, name: str) -> bool:
        """The second look."""
        return _number(self.here, name) == self.number and is_as(self.file, self.digest)


def name_new(here: int, draft: str, name: str) -> None:
    try:
        rename_new(draft, name, here, here)
    except FileExistsError:
        raise ChangedSince("is there already") from None


def replace(there: Checked, draft: str, ours: int) -> str | None:
    """`ours`: the draft's number. The name that the replaced file has now, if it is still there."""
    here, name = there.here, there.name
    try:
        if not exchange(draft, name, here):
            os.rename(draft, name, src_dir_fd=here, dst_dir_fd=here)
            return None
    except FileNotFoundError:
        raise _gone() from None
    there.at("exchanged")
    if not there.is_under(draft):
        _exchange_back(here, draft, name, ours)
        raise _changed()
    return draft


def move_aside(there: Checked) -> str:
    """Its new name, under which it may be deleted."""
    here, name, aside = there.here, there.name, new_draft()
    try:
        rename_new(name, aside, here, here)
    except FileNotFoundError:
        raise _gone() from None
    there.at("moved aside")
    if not there.is_under(aside):
        _put_back(here, aside, name)
        raise _changed()
    return aside


def remove_all(rooted: Rooted, drafts: Sequence[tuple[Names, str]]) -> None:
    """Drafts, each with its folder. What cannot be removed now is swept later. By several threads: some disks let each
    wait for a millisecond, and many in no more."""
    threads = 1 if len(drafts) <= FEW else min(THREADS, len(drafts))
    ordered = sorted(drafts, key=lambda draft: list(draft[0]))
    share = -(-len(drafts) // threads)

    def remove(some: Sequence[tuple[Names, str]]) -> None:
        for folder, group in groupby(some, key=lambda draft: draft[0]):
            with suppress(OSError), opened(rooted, folder) as here:
                discard(here, [name for _, name in group])

    together([partial(remove, ordered[start : start + share]) for start in range(0, len(ordered), share or 1)])


def is_as(file: int, digest: str | None) -> bool:
    data = read_again(file, LARGEST)
    return len(data) <= LARGEST and digest_of(data) == digest


def _exchange_back(here: int, draft: str, name: str, ours: int) -> None:
    """The draft's name has what somebody has saved just now. The draft gets it back, to be discarded."""
    try:
        exchange(draft, name, here)
    except FileNotFoundError:  # now it is deleted, too
        _put_back(here, draft, name)
        return
    if _number(here, draft) != ours:  # and now it has been saved again: that one counts
        exchange(draft, name, here)
        _keep_beside(here, draft, name)


def _put_back(here: int, draft: str, name: str) -> None:
    try:
        rename_new(draft, name, here, here)
    except FileExistsError:
        _keep_beside(here, draft, name)


def _keep_beside(here: int, draft: str, name: str) -> None:
    """What somebody has saved is not ours to delete, even if they have saved again."""
    rename_new(draft, f"{name[:LONGEST_KEPT]}.{os.urandom(3).hex()}.saved", here, here)


def _number(here: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=here, follow_symlinks=False).st_ino
    except FileNotFoundError:
        return None


def _gone() -> ChangedSince:
    return ChangedSince("is not there any more")


def _changed() -> ChangedSince:
    return ChangedSince("has changed since it was read")
