"""Which versions of its files each result of a run is of.

A file may be edited while its program runs, and changed back before anybody has read it. So a case's files are looked
at, but not read, just before its program begins and again when it has ended. A stamp (a file's number, size and times)
stands for one version. What was in it is known once the folder has been read with this stamp. A result counts for the
versions that its program has read, and for none as long as nobody knows them.

Stamps do not tell of everything: a file that another program writes to through its memory; a whole folder that is
exchanged for another and put back while one program runs; two edits within one tick of the disk's clock.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from actors.judge.given import Found, Stamp, Used
from actors.judge.ledger import Basis, solution_version, version_of

_UNREAD = b"no digest"


class Versions:
    def __init__(self) -> None:
        self._digests: dict[Stamp, bytes | None] = {}
        """What each stamp stands for. None: for more than one version."""
        self._used: dict[int, Used] = {}
        """By the results of the current or last run."""

    def run_begins(self) -> None:
        self._used.clear()

    def ran(self, index: int, used: Used | None) -> None:
        """A program has ended, which has used these files. None: no program has run."""
        if used is not None:
            self._used[index] = used

    @property
    def ran_last(self) -> tuple[int, ...]:
        return tuple(self._used)

    @property
    def is_any_unread(self) -> bool:
        """Whether a program has used a version that nobody has read yet."""
        return any(
            not (version is None or isinstance(version, bytes) or version in self._digests)
            for used in self._used.values()
            for version in used
        )

    def read(self, found: Found) -> bool:
        """The folder was read. Returns whether anything is known now that was not."""
        now = dict(_stamps(found))
        known = self._digests
        news = {stamp: digest for stamp, digest in now.items() if known.get(stamp, _UNREAD) not in (digest, None)}
        for stamp, digest in news.items():
            known[stamp] = None if stamp in known else digest
        if len(self._digests) > 3 * len(now) + 100:
            self._digests = {stamp: self._digests[stamp] for stamp in now}
        return bool(news)

    def basis(self, index: int, ordered: Basis) -> Basis:
        """What this result depends on, if its run was ordered like this."""
        used = self._used.get(index)
        if used is None:
            return ordered
        main, given, wanted = map(self._digest, (used.main, used.given, used.wanted))
        test = "" if given is None or wanted is None else version_of(given, wanted)
        return replace(ordered, solution="" if main is None else solution_version(main), test=test)

    def _digest(self, version: Stamp | bytes | None) -> bytes | None:
        return version if version is None or isinstance(version, bytes) else self._digests.get(version)


def _stamps(found: Found) -> Iterator[tuple[Stamp, bytes]]:
    if found.main_stamp is not None and found.main is not None:
        yield found.main_stamp, found.main
    for pair in found.cases.values():
        for text in pair:
            if text.stamp is not None:
                yield text.stamp, text.digest
