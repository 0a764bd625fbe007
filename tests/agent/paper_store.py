"""A store on paper: what was committed is kept, and a kill of the process is a copy of it at that moment.

It commits what has gathered, after a time that the test gives, and then answers, as the real one does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

import trio

from actors.kernel import Actor, ChildSpec
from actors.store import STORE, Conflict, Delete, Put, StoreError, StoreFull, StoreMessage
from actors.store.messages import Ask, Write
from actors.store.operations import (
    PAGE_BYTES,
    Append,
    Drop,
    DropBlob,
    Get,
    GetBlob,
    Keys,
    PutBlob,
    Read,
    Streams,
    Together,
)


@dataclass
class Paper:
    streams: dict[str, list[bytes]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], bytes] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)

    def copy(self) -> "Paper":
        return Paper({name: list(events) for name, events in self.streams.items()}, dict(self.pairs), dict(self.blobs))

    def change(self, job: Any) -> Any:
        match job:
            case Append(stream, events, expected):
                log = self.streams.setdefault(stream, [])
                if expected is not None and expected != len(log):
                    raise Conflict(stream, expected, len(log))
                assert events
                log.extend(events)
                return len(log)
            case Drop(stream):
                self.streams.pop(stream, None)
            case Put(space, key, value):
                self.pairs[space, key] = value
            case Delete(space, key):
                self.pairs.pop((space, key), None)
            case Together(changes):
                for change in changes:  # only the first one may be refused, so nothing is to be undone
                    assert not isinstance(change, Append) or change is changes[0]
                    self.change(change)
            case PutBlob(data):
                digest = sha256(data).hexdigest()
                self.blobs[digest] = data
                return digest
            case DropBlob(digest):
                self.blobs.pop(digest, None)
            case _:
                raise NotImplementedError(job)
        return None

    def tell(self, job: Any) -> Any:
        match job:
            case Read(stream, after, limit):
                page: list[tuple[int, bytes]] = []
                size = 0
                for place, event in enumerate(self.streams.get(stream, [])[after : after + limit], after + 1):
                    size += len(event)
                    if page and size > PAGE_BYTES:
                        break
                    page.append((place, event))
                return page
            case Streams(prefix, after, limit):
                names = sorted(name for name in self.streams if name.startswith(prefix) and name > after)
                return [(name, len(self.streams[name])) for name in names[:limit]]
            case Get(space, key):
                return self.pairs.get((space, key))
            case Keys(space, prefix, after, limit):
                keys = sorted(key for room, key in self.pairs if room == space and key.startswith(prefix))
                return [(key, self.pairs[space, key]) for key in keys if key > after][:limit]
            case GetBlob(digest):
                return self.blobs.get(digest)
        raise NotImplementedError(job)


@dataclass
class PaperDisk:
    """How the store behaves."""

    paper: Paper = field(default_factory=Paper)
    seconds: Callable[[], float] = lambda: 0.002
    """Of a commit."""
    full: bool = False
    mute: bool = False
    """What is committed is not answered any more."""
    commits: int = 0


class PaperStore(Actor[StoreMessage]):
    def __init__(self, disk: PaperDisk) -> None:
        self._disk = disk
        self._jobs: list[Write] = []
        self._stir = trio.Event()

    async def started(self, kept: object | None) -> None:
        self.stage.registry.claim(STORE, self.ref)
        self.run_beside(self._serve)

    async def handle(self, message: StoreMessage) -> None:
        match message:
            case Write():
                self._jobs.append(message)
                self._stir.set()
            case Ask(job, reply):
                reply.set(self._disk.paper.tell(job))
            case _:
                raise NotImplementedError(message)

    async def _serve(self) -> None:
        while True:
            await self._stir.wait()
            self._stir = trio.Event()
            jobs, self._jobs = self._jobs, []
            await trio.sleep(self._disk.seconds())
            self._disk.commits += 1
            for write in jobs:
                self._answer(write)

    def _answer(self, write: Write) -> None:
        try:
            if self._disk.full:
                raise StoreFull("the disk is full; free some space")
            result = self._disk.paper.change(write.job)
        except StoreError as error:
            if write.reply.wanted:
                write.reply.fail(error)
        else:
            if write.reply.wanted and not self._disk.mute:
                write.reply.set(result)


def paper_spec(disk: PaperDisk) -> ChildSpec[StoreMessage]:
    return ChildSpec("store", partial(PaperStore, disk))
