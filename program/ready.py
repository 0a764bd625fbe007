"""Announces the server's addresses in two files: the ready file, and `server.json` in the state directory.

Both hold the same JSON, `{"pid": 1, "listeners": {"console": "http://127.0.0.1:5160", "sidekick": null}}`, where null
stands for a listener that is known to be down. A program that starts the server waits for the first file, and
`troupe tree` finds the server by the second. A file is complete or absent. It exists only while the server is up; if a
`kill -9` leaves it behind, the next start removes it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec

from program.trouble import Trouble
from program.whole import drafted

SERVER_FILE = "server.json"
LONGEST = 65_536


class Announcement(msgspec.Struct, frozen=True):
    pid: int
    listeners: dict[str, str | None]


def read(path: Path) -> Announcement | None:
    """The announcement in this file, if there is one."""
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(LONGEST), type=Announcement)
    except (OSError, msgspec.DecodeError):
        return None


def is_gone(announcement: Announcement) -> bool:
    """Whether the process that announced itself has ended, as one does that was killed and left its file behind."""
    try:
        os.kill(announcement.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


class ReadyFiles:
    """The same announcement in several files, for as long as the block lasts.

    Enter it only after claiming the state directory, because entering removes files that a killed server left behind.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)

    def __enter__(self) -> "ReadyFiles":
        for path in self._paths:
            _refuse_anything_else(path)
        _remove(self._paths)
        return self

    def announce(self, listeners: Mapping[str, str | None]) -> None:
        """Call this when every listener is up or known to be down, and again whenever that changes."""
        content = msgspec.json.encode(Announcement(os.getpid(), dict(listeners))) + b"\n"
        for path in self._paths:
            try:
                with drafted(path, 0o600) as file:
                    file.write(content)
            except OSError as error:
                raise Trouble(f"{path}: the ready file cannot be written: {error.strerror}") from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # If another server has announced itself there meanwhile, the file belongs to it.
        _remove(path for path in self._paths if (there := read(path)) is not None and there.pid == os.getpid())


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):  # the file or its folder is gone already
            path.unlink()


def _refuse_anything_else(path: Path) -> None:
    """A mistyped --ready-file must not destroy a file or a device."""
    try:
        has_folder, ours = path.parent.is_dir(), not path.exists() or _is_ours(path)
    except OSError as error:  # the name is too long, or the folder is not accessible
        raise Trouble(f"{path}: the ready file cannot be there: {error.strerror}") from None
    if path.is_symlink():
        raise Trouble(f"{path}: there is a link already; a ready file would take its place. Remove it, or name another")
    if not has_folder:
        raise Trouble(f"{path}: the ready file has no folder to be in; make {path.parent} first")
    if not ours:
        raise Trouble(f"{path}: there is something else already; expected a ready file of ours, an empty file, or none")


def _is_ours(path: Path) -> bool:
    return path.is_file() and (not path.stat().st_size or read(path) is not None)
