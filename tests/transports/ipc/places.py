"""A base folder on a disk, with a keeper and somebody who attends, for the tests of this room."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio

from actors.kernel import Actor, ChildSpec, Mailbox
from actors.kernel.testing import House, Log, staged
from codec.ipc import Failure, Request, Success, write_request, write_response
from codec.ipc.folder import FilesChanged, Identity, News, Tray
from tests.patience import PATIENCE
from transports.ipc.base import FolderBase
from transports.ipc.keeper import keeper_spec


class Clock:
    """One that goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def asked(id: str, **params: Any) -> bytes:  # noqa: A002 - as in the contract
    return write_request(Request(id=id, command="ping", params=params))


def answered(id: str, data: Any = None) -> bytes:  # noqa: A002
    return write_response(id, Success(data))


def refused(id: str, why: str = "busy") -> bytes:  # noqa: A002
    return write_response(id, Failure(why))


class Attendant(Actor[News]):
    def __init__(self, base: FolderBase, heard: Log[News], gate: trio.Event | None) -> None:
        self.base = base
        self.heard = heard
        self.gate = gate

    async def started(self, kept: object | None) -> None:
        self.base.attend(self.ref, lambda news: news)

    async def handle(self, message: News) -> None:
        if self.gate is not None:
            await self.gate.wait()
        self.heard.add(message)


def attendant_spec(
    base: FolderBase, heard: Log[News], gate: trio.Event | None = None, room: int = 1024
) -> ChildSpec[News]:
    return ChildSpec("attendant", lambda: Attendant(base, heard, gate), mailbox=lambda: Mailbox(room))


@asynccontextmanager
async def kept(
    base: FolderBase, *, gate: trio.Event | None = None, room: int = 1024, tick: float = 0.2
) -> AsyncIterator[tuple[House, Log[News]]]:
    heard: Log[News] = Log()
    async with staged(keeper_spec(base, tick=tick), attendant_spec(base, heard, gate, room), intensity=100) as house:
        with trio.fail_after(PATIENCE):
            yield house, heard


async def heard_that(heard: Log[News], wanted: Callable[[News], bool], since: int = 0) -> News:
    """The first such news after so many."""
    return await heard.nth(1 + sum(map(wanted, heard.entries[:since])), wanted)


def of(tray: Tray, id: str) -> Callable[[News], bool]:  # noqa: A002
    return lambda news: isinstance(news, FilesChanged) and id in news.ids.get(tray, ())


def identity(path: Path) -> Identity:
    status = path.stat()
    return Identity(status.st_ino, status.st_mtime_ns)


def put(base: Path, tray: Tray, id: str, data: bytes) -> Path:  # noqa: A002
    path = base / tray.value / f"{id}.json"
    path.write_bytes(data)
    return path


def opened(below: Path) -> list[str]:
    """What this process has open there, as often as it has."""
    found = []
    for each in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # another thread has closed it meanwhile
            found.append(os.readlink(f"/proc/self/fd/{each}"))
    return sorted(each for each in found if Path(each).is_relative_to(below))
