"""quarantine/: where what may not stay in the other rooms is moved to. Nothing in it is ever deleted.

    r1.json-5f0c2a9b.entry    the thing itself, whatever it is; the beginning of its name is kept, byte for byte
    r1.json-5f0c2a9b.json     why it is here, for people and for the desk: name, room, kind, why, at

The reason is written first. So after a kill there may be a reason without a thing; those are cleared at the next
opening.
"""

import heapq
import json
import os
import re
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import structlog

from codec.ipc import id_of
from transports.folder.drafts import discard, write_drafts
from transports.folder.kinds import kind_of

LATEST = 20
KEPT = 160
"""Bytes of a name that are kept."""
ENTRY, REASON = ".entry", ".json"
TAG = 8
"""Letters of a tag."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")

log = structlog.get_logger("ipc")


class Quarantine:
    def __init__(self, folder: int, drafts: int) -> None:
        """Of an opened base: its quarantine/ and its folder of drafts, as descriptors."""
        self._folder = folder
        self._drafts = drafts
        self.count = 0
        self.latest: deque[str] = deque(maxlen=LATEST)
        """Why the last few things came here, as sentences, newest first."""
        self._stuck: set[tuple[str, str]] = set()

    def look_over(self) -> None:
        names = set(os.listdir(self._folder))
        reasons = {name for name in names if name.endswith(REASON)}
        tags = {_tag(name, ENTRY) for name in names if name.endswith(ENTRY)}
        for name in reasons:
            if _tag(name, REASON) not in tags and self._is_without_entry(name, names):
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._folder)
                    self.count -= 1
        self.count += len(reasons)
        self._read_latest(reasons)

    def _is_without_entry(self, name: str, names: set[str]) -> bool:
        """Only what we can read as a reason of ours is deleted."""
        reason = self._reason(name)
        return reason is not None and os.fsdecode(bytes.fromhex(reason["entry"])) not in names

    def _read_latest(self, reasons: Iterable[str]) -> None:
        ages = []
        for name in reasons:
            with suppress(OSError):
                ages.append((os.stat(name, dir_fd=self._folder, follow_symlinks=False).st_mtime_ns, name))
        for _, name in heapq.nlargest(LATEST, ages):
            if (reason := self._reason(name)) is not None:
                self.latest.append(_sentence(reason))

    def _reason(self, name: str) -> Mapping[str, Any] | None:
        """None: it is not as we write it."""
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._folder)
            with open(file, "rb") as opened:
                reason = json.loads(opened.read(1 << 14))
            bytes.fromhex(reason["entry"])
            return reason if all(isinstance(reason[key], str) for key in ("name", "room", "why")) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def take_in(self, room: int, room_name: str, name: str, why: str) -> bool:
        """Moves it here. False, and it is said once: it cannot be moved."""
        try:
            status = os.stat(name, dir_fd=room, follow_symlinks=False)
        except FileNotFoundError:
            return True
        tag = os.urandom(TAG // 2).hex()
        beginning = os.fsencode(name)[:KEPT]
        entry = beginning + f"-{tag}{ENTRY}".encode()
        reason = {
            "name": ascii(name)[1:-1],
            "room": room_name,
            "kind": kind_of(status.st_mode),
            "bytes": status.st_size,
            "why": why,
            "at": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
            "entry": entry.hex(),
        }
        drafts = write_drafts(self._drafts, [json.dumps(reason).encode()], sync=False)
        try:
            if isinstance(drafts[0], OSError):
                raise drafts[0]
            told = f"{_safe(beginning)}-{tag}{REASON}"
            os.rename(drafts[0], told, src_dir_fd=self._drafts, dst_dir_fd=self._folder)
            try:
                os.rename(os.fsencode(name), entry, src_dir_fd=room, dst_dir_fd=self._folder)
            except OSError:
                os.unlink(told, dir_fd=self._folder)
                raise
        except FileNotFoundError:  # somebody else has taken it away meanwhile
            return True
        except OSError as error:
            if (room_name, name) not in self._stuck and len(self._stuck) < 1000:
                self._stuck.add((room_name, name))
                log.warning("cannot be set aside", entry=ascii(name), room=room_name, why=why, error=error.strerror)
            return False
        finally:
            discard(self._drafts, drafts)
        self.count += 1
        self.latest.appendleft(_sentence(reason))
        log.warning("set aside", entry=ascii(name), room=room_name, why=why, to=f"{Quarantine.__name__.lower()}/{told}")
        return True


def _tag(name: str, suffix: str) -> str:
    """What an entry and its reason have in common, though the one may be named in other letters than the other."""
    return name.removesuffix(suffix)[-TAG:]


def _sentence(reason: Mapping[str, Any]) -> str:
    return f"{reason['room']}/{reason['name']}: {reason['why']}"


def _safe(name: bytes) -> str:
    """In the alphabet of ids, so that a reason can be read as the file of an id."""
    text = _UNSAFE.sub("_", name.decode("ascii", "replace"))[:100]
    return text if id_of(f"{text}-{REASON}") else f"x{text}"
