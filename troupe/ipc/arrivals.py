"""The tasks that wait for requests, and how they learn that something has happened to the files of one.

One of those who wait does the watching for all of them; when it has what it waits for, or is cancelled, another one
takes over. So there is one watcher for thousands of tickets, no task that nobody waits for, and nothing to be closed
but a descriptor.

Rules
  - What is told is an id, never a content: so the memory is that of the ids, however fast the answers come. A task
    that is told looks at the files itself.
  - Before the first event there is a look at everything; so nothing is missed. Another one follows when events were
    lost, when the folder has been replaced, and every few seconds, because some file systems tell of no events.
  - What we submit while the folder is watched is not looked at until something happens to it.
  - Without inotify the folder is looked at several times a second.
"""

import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Protocol

import trio

from codec.ipc import id_of
from transports.folder.inotify import ARRIVALS, Inotify
from troupe.ipc.folder import FAILED, RESPONSES, DeskFolder
from troupe.ipc.results import Result

RESCAN_SECONDS = 3.0
POLL_SECONDS = 0.1
SHARE = 20.0
"""Between two looks at everything passes so many times what one has taken."""
AT_ONCE = 32
"""Requests that are looked at in one go."""
MOST_QUIET = 1_000
"""Of more that nobody waits for yet, the first ones are looked at."""


class Watch(Protocol):
    """Some requests, and which of them have ended."""

    def add(self, ids: Iterable[str]) -> None: ...

    async def next(self, patience: float | None, /) -> Result:
        """Of one of them that has ended and was not given yet. Raises NobodyAtTheDesk; LookupError: all were given."""

    def close(self) -> None: ...


class Arrivals:
    def __init__(self, folder: DeskFolder, *, rescan: float = RESCAN_SECONDS, poll: float = POLL_SECONDS) -> None:
        self._folder = folder
        self._rescan_every = rescan
        self._poll_every = poll
        self._by_id: dict[str, set[FileWatch]] = {}
        self._following: dict[FileWatch, None] = {}
        self._leading = False
        self._quiet: dict[str, None] = {}
        """Submitted while the folder was watched, and not waited for yet; and nothing that was heard is about them."""
        self._eyes: _Eyes | None = None
        self._due = 0.0
        self._threads = trio.CapacityLimiter(2)
        self.rescans = 0

    def register(self, watch: "FileWatch", ids: Iterable[str]) -> None:
        for each in ids:
            self._by_id.setdefault(each, set()).add(watch)

    def forget(self, watch: "FileWatch", ids: Iterable[str]) -> None:
        for each in ids:
            if (watches := self._by_id.get(each)) is not None:
                watches.discard(watch)
                if not watches:
                    del self._by_id[each]

    def stir(self, ids: Iterable[str]) -> None:
        for each in ids:
            self._quiet.pop(each, None)
            for watch in self._by_id.get(each, ()):
                watch.stir(each)

    def expect(self, ids: Iterable[str]) -> None:
        """They are about to be submitted."""
        if self._eyes is not None and self._eyes.inotify is not None:
            self._quiet.update(dict.fromkeys(ids))
            while len(self._quiet) > MOST_QUIET:
                del self._quiet[next(iter(self._quiet))]

    def expect_no_more(self, ids: Iterable[str]) -> None:
        """They were there before, or may not be there."""
        for each in ids:
            self._quiet.pop(each, None)

    def is_quiet(self, id: str) -> bool:  # noqa: A002 - as in the contract
        """Whether there is nothing to be seen of it before an event tells. Who asks waits for it from now on."""
        return self._quiet.pop(id, self) is None

    async def until_stirred(self, watch: "FileWatch") -> None:
        try:
            while not watch.stirred:
                if self._leading:
                    await self._follow(watch)
                else:
                    await self._lead(watch)
        finally:
            if not self._leading:  # also who was called to lead, and need not wait any more, calls the next
                for heir in self._following:
                    heir.woken.set()
                    break

    async def _follow(self, watch: "FileWatch") -> None:
        watch.woken = trio.Event()
        self._following[watch] = None
        try:
            await watch.woken.wait()
        finally:
            del self._following[watch]

    async def _lead(self, watch: "FileWatch") -> None:
        self._leading = True
        try:
            while not watch.stirred:
                await self._watch_a_while()
        finally:
            self._leading = False

    def close(self) -> None:
        self._quiet.clear()
        if self._eyes is not None:
            self._eyes.close()
            self._eyes = None

    # -- the one that watches

    async def _watch_a_while(self) -> None:
        if self._eyes is None:
            self._eyes = await trio.to_thread.run_sync(_Eyes, self._folder, limiter=self._threads)
            self._due = 0.0
        eyes = self._eyes
        if trio.current_time() >= self._due:
            await self._rescan(eyes)
            return
        if eyes.inotify is None:
            await trio.sleep_until(self._due)
            return
        with trio.move_on_at(self._due):
            await trio.lowlevel.wait_readable(eyes.inotify)
        self._heard(eyes.inotify)

    def _heard(self, inotify: Inotify) -> None:
        for event in inotify.read():
            if event.lost or event.of_folder or event.over:
                self._quiet.clear()
                self._due = 0.0
            elif (about := id_of(event.name)) is not None:
                self.stir((about,))

    async def _rescan(self, eyes: "_Eyes") -> None:
        wanted = frozenset(self._by_id)
        look = self._folder.ended_or_gone
        self.rescans += 1
        began = trio.current_time()
        found, is_other = await trio.to_thread.run_sync(
            lambda: (look(wanted), eyes.are_astray()), abandon_on_cancel=True, limiter=self._threads
        )
        if is_other:
            self.close()
        else:
            every = self._poll_every if eyes.inotify is None else self._rescan_every
            now = trio.current_time()
            self._due = now + max(every, SHARE * (now - began))
        self.stir(found)


class _Eyes:
    """The rooms in which ends appear, and inotify on them."""

    def __init__(self, folder: DeskFolder) -> None:
        folder.make()
        self._rooms = [folder.base / room for room in (RESPONSES, FAILED)]
        self._stats = [os.stat(room) for room in self._rooms]
        self.inotify: Inotify | None = None
        with suppress(OSError):  # there is none, or no more of it
            inotify = Inotify()
            try:
                for room in self._rooms:
                    inotify.add(room, ARRIVALS)
            except OSError:
                inotify.close()
            else:
                self.inotify = inotify

    def are_astray(self) -> bool:
        """Whether the rooms are not those any more."""
        try:
            now = [os.stat(room) for room in self._rooms]
            return not all(map(os.path.samestat, now, self._stats))
        except OSError:
            return True

    def close(self) -> None:
        if self.inotify is not None:
            self.inotify.close()
            self.inotify = None


class FileWatch:
    def __init__(
        self,
        arrivals: Arrivals,
        look: Callable[[list[str]], Awaitable[list[Result]]],
        complain: Callable[[str], Awaitable[None]],
    ) -> None:
        """`complain` is called when nothing has happened for as long as one was patient, with the id that has waited
        for longest; it raises if nobody is at the desk."""
        self._arrivals = arrivals
        self._look = look
        self._complain = complain
        self._ids: dict[str, None] = {}
        self._found: deque[Result] = deque()
        self.stirred: dict[str, None] = {}
        self.woken = trio.Event()

    def add(self, ids: Iterable[str]) -> None:
        new = [each for each in ids if each not in self._ids]
        self._ids.update(dict.fromkeys(new))
        self._arrivals.register(self, new)
        self.stirred.update(dict.fromkeys(each for each in new if not self._arrivals.is_quiet(each)))

    def stir(self, id: str) -> None:  # noqa: A002
        self.stirred[id] = None
        self.woken.set()

    async def next(self, patience: float | None) -> Result:
        while True:
            while self.stirred and not self._found:
                await self._look_at_some()
            if self._found:
                await trio.lowlevel.checkpoint_if_cancelled()
                return self._found.popleft()
            if not self._ids:
                raise LookupError("all of them have been given")
            with trio.move_on_after(float("inf") if patience is None else patience) as scope:
                await self._arrivals.until_stirred(self)
            if scope.cancelled_caught and not self.stirred:
                await self._complain(next(iter(self._ids)))

    async def _look_at_some(self) -> None:
        some = list(islice(self.stirred, AT_ONCE))
        for each in some:
            del self.stirred[each]
        ended: list[Result] | None = None
        try:
            ended = await self._look(some)
        finally:
            if ended is None:  # we were cancelled, or the folder cannot be used: these were not looked at
                self.stirred.update(dict.fromkeys(each for each in some if each in self._ids))
        self._found.extend(result for result in ended if result.id in self._ids)
        self._drop([result.id for result in ended])

    def _drop(self, ids: Iterable[str]) -> None:
        ids = [each for each in ids if each in self._ids]
        for each in ids:
            del self._ids[each]
            self.stirred.pop(each, None)
        self._arrivals.forget(self, ids)

    def close(self) -> None:
        self._drop(list(self._ids))
        self.stirred.clear()
