"""The files of a base, read by a command that may run without the server.

Only plain files below the folder are read, up to a limit; what else stands there is as if it were not. Nothing is
changed but eval/, where a file is replaced as a whole.

Everything here blocks.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from codec.ipc.ids import file_of, id_of
from codec.ipc.report import Papers
from transports.folder.rooted import FileEntry, Rooted

MOST_BYTES = 64 * 1024 * 1024
_ROOMS = ("requests", "submitted", "responses", "failed")
"""A peer of the HEAD dialect takes a request away; until a server has noted it, its copy stands in submitted/."""
_EVALUATIONS, _ARCHIVE = "eval", "archive"


class OfflineBase:
    """Raises OSError where the folder itself cannot be read."""

    def __init__(self, path: Path) -> None:
        self._rooted = Rooted(path)
        self._entries: dict[str, Mapping[str, FileEntry | None]] = {}

    @property
    def path(self) -> Path:
        return self._rooted.root

    def ids(self) -> Collection[str]:
        """Of all requests that have a file."""
        found = set[str]()
        for room in _ROOMS:
            self._entries[room] = self._rooted.entries((room,))
            found |= {known for name, entry in self._entries[room].items() if entry and (known := id_of(name))}
        return found

    def papers(self, id: str) -> Papers:  # noqa: A002 - as in the contract
        name = file_of(id)
        asked, copied, answered, _ = (self._entries.get(room, {}).get(name) for room in _ROOMS)
        request, copy, response, failed = (self._read((room, name)) for room in _ROOMS)
        if request is None:
            request, asked = copy, copied
        return Papers(
            request=request,
            response=response,
            failed=failed,
            evaluation=self._read((_EVALUATIONS, name)),
            seconds=_between(asked, answered),
        )

    def days(self) -> Sequence[str]:
        """Of the archive."""
        return self._rooted.folders((_ARCHIVE,))

    def archived(self, day: str) -> Collection[str]:
        return [name for name in self._rooted.folders((_ARCHIVE, day)) if id_of(f"{name}.json")]

    def archived_papers(self, day: str, id: str) -> Papers:  # noqa: A002
        place = (_ARCHIVE, day, id)
        entries = self._rooted.entries(place)
        request, response, failed, evaluation = (
            self._read((*place, f"{name}.json")) for name in ("request", "response", "failed", "eval")
        )
        return Papers(
            request=request,
            response=response,
            failed=failed,
            evaluation=evaluation,
            seconds=_between(entries.get("request.json"), entries.get("response.json")),
        )

    def keep(self, id: str, evaluation: bytes) -> None:  # noqa: A002
        """Writes eval/ID.json, in place of what is there."""
        self._rooted.publish((_EVALUATIONS,), {file_of(id): evaluation})

    def _read(self, names: Sequence[str]) -> bytes | None:
        try:
            data = self._rooted.read(names, MOST_BYTES + 1)
        except OSError:  # there is none; or it is a link, a folder, a pipe, or may not be read
            return None
        return data if len(data) <= MOST_BYTES else None


def _between(asked: FileEntry | None, answered: FileEntry | None) -> float | None:
    """None also where the times cannot be right."""
    if asked is None or answered is None or answered.changed_ns < asked.changed_ns:
        return None
    return (answered.changed_ns - asked.changed_ns) / 1e9
