"""The intake: stores and answers posts, and writes each into its problem's folder.

    kept by the store -> answered -> (at most 8 at a time, those of one problem in order) written -> taken off the queue

    written           the shelf is asked for the problem's folder (PlaceFor); the problem's actor comes from the factory
                      (problems.py) and takes the post in (Arrived); the shelf lists the result (Changed)

Rules
  - A post is answered when it cannot be lost any more. It is taken off the queue (posts.py) when its folder is
    complete. If the problem, the judge or the server ends before that, the post is taken up again. Writing it twice
    does no harm.
  - The memory for waiting posts is bounded, however many there are: their tasks are read from the store when their turn
    comes, except for a few recent ones.
  - If a post cannot be written for now (the disk is full, a folder is locked), the panels are told. It stays in the
    queue and is tried again at growing intervals; and at once when its problem is posted again, or when another such
    post could be written.
  - A post that crashes something each time is tried a few times and then set aside. It is kept, reported at each start,
    and not tried again. It is forgotten when its problem is posted again, or to make room for newer ones.
  - A post never holds up another problem's posts.
  - The shelf is told of posts in the order in which they came, however long each takes to write, because a page follows
    the first one of a contest.
  - If a post is refused (it is not understood, or there is no room), or cannot be written yet, all panels are told, by
    one sentence a second.
"""

import math
from contextlib import suppress
from functools import partial
from typing import ClassVar

import trio

from actors.judge.messages.intake import Complain, IntakeMessage, Posted, PostRefused, TryPostsAgain
from actors.judge.messages.problem import Arrived
from actors.judge.messages.shelf import Changed, PlaceFor, ShelfMessage, TellEverybody
from actors.judge.places import TaskPlace
from actors.judge.posts import NeverAnswered, Posts, read
from actors.judge.problems import Problems
from actors.judge.registered import INTAKE, SHELF
from actors.judge.waiting import IN_HAND, RESTING, Aside, Post, Queue, Whole
from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    Agenda,
    KernelError,
    MailboxFull,
    NobodyThere,
    Reply,
    Timer,
    TooManyChildren,
    TooSlow,
    describe,
    growing_wait,
    in_words,
)
from actors.store import StoreError
from codec.judge import Listed, Task
from codec.words import lasting

MOST = 10_000
"""Posts that may wait for their folders..."""
MOST_BYTES = 1 << 30
"""...and the bytes of all of them in the store..."""
MOST_COMING = 256 << 20
"""...and the bytes in memory of posts that the store does not have yet. Further posts are refused."""
AT_ONCE, AT_ONCE_BYTES = 8, 128 << 20
"""Posts that are written at the same time, and their bytes..."""
BESIDE = 2
"""...but only this many are begun while others are being stored, because those need the same disk and wait for an
answer."""
NEAR, NEAR_BYTES = 64 << 10, 16 << 20
"""A post up to this size stays in memory and need not be read again; and the bytes of all such posts."""
LARGE = 1 << 18
"""A post from this size on is decoded in a thread, so that nothing waits for it."""
SECONDS = 60.0
"""Seconds to wait for the disk."""
AGAIN_SECONDS, SELDOM_SECONDS = 2.0, 60.0
"""The first and the longest interval before a failed post is tried again."""
APART_SECONDS = 0.05
"""The pause between two posts that are tried again."""
MOST_FAILURES = 3
MOST_ASIDE, MOST_ASIDE_BYTES = 100, 256 << 20
COMPLAIN_SECONDS = 1.0
INSTANT = 1e-6
"""Seconds between two posts at least."""

PASSING = (TooSlow, TooManyChildren, NobodyThere, MailboxFull, StoreError)
"""Errors that are not the post's own fault."""


class TooMuchPosted(MailboxFull):
    told: ClassVar[str | None] = None


class NotKept(KernelError):
    pass


class Intake(Actor[IntakeMessage]):
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._queue = Queue(at_once_bytes=AT_ONCE_BYTES)
        self._number = 0
        """The number of the last post."""
        self._at = 0.0
        """When the last post was taken up. A list that is made of the store is in the order of these times, and pages
        are told of posts in the order in which they were taken up: so no two are equal."""
        self._coming = self._near = 0
        """Bytes of posts that the store does not have yet, and of posts whose tasks are in memory."""
        self._resting: dict[int, Post] = {}
        self._agenda = Agenda[int]()
        """When each of these is to be tried again."""
        self._timer: Timer | None = None
        """Invariant: if there are any, this is pending, and due no later than the first of them."""
        self._aside: dict[int, Post] = {}
        self._taken_in = 0
        self._last_name = ""
        self._last = trio.Event()
        """Set when the shelf has been told of the last post that was begun, and so of all before it."""
        self._last.set()
        self._quiet = False
        """Whether trouble with a post was reported within the last second..."""
        self._untold = 0
        """...the number of such posts since then that were not..."""
        self._newest = ""
        """...and the last of these."""

    async def started(self, kept: object | None) -> None:
        self._posts = Posts(self.stage.registry)
        reasons = []
        async for post, why in self._posts.all():
            if why is None:
                post.again = True
                self._queue.add(post)
            else:
                self._aside[post.number] = post
                reasons.append(why)
            self._number = post.number
        if isinstance(kept, int):  # a post that the last incarnation was storing may have arrived only now
            self._number = max(self._number, kept)
        self.stage.registry.claim(INTAKE, self.ref)
        if reasons:
            self._complain(reasons[-1] + _others(len(reasons) - 1))
        self._go_on()

    def keep(self) -> object:
        return self._number

    def at_once(self, message: IntakeMessage) -> bool:
        if type(message) is not Posted:
            return False
        self._posted(message)
        return True

    async def handle(self, message: IntakeMessage) -> None:
        match message:
            case Posted():
                self._posted(message)
            case PostRefused(sentence):
                self._complain(sentence)
            case TryPostsAgain():
                for number in self._agenda.take(self.stage.now(), MOST):
                    self._wake(self._resting[number])
                self._set_timer()
                self._go_on()
            case Complain():
                self._quiet = False
                if self._untold:
                    others, self._untold = self._untold - 1, 0
                    self._complain(self._newest + _others(others))
            case _:
                self.unknown(message)

    # -- keeping

    def _posted(self, posted: Posted) -> None:
        task, size, reply = posted.task, len(posted.encoded), posted.reply
        if refusal := self._refusal(task, size):
            self._complain(refusal)
            reply.fail(TooMuchPosted(refusal))
            return
        self._number += 1
        post = Post(self._number, posted.lane, size)
        if size <= NEAR and self._near + size <= NEAR_BYTES:
            post.task = task
            self._near += size
        self._coming += size
        if (first := self._queue.add(post)) is not None:
            self._wake(first)
            self._go_on()
        self.run_beside(self._keep, post, task.name, posted.encoded, reply)

    def _refusal(self, task: Task, size: int) -> str | None:
        """The reason why there is no room for a post; None if there is."""
        if self._queue.count >= MOST:
            full = f"{self._queue.count:,} posts wait for their folders already"
        elif self._queue.bytes + size > MOST_BYTES or self._coming + size > MOST_COMING:
            full = "the posts before it that wait for their folders are too large"
        else:
            return None
        return f"{task.name} was refused: {full}. Wait a moment, and send it again."

    async def _keep(self, post: Post, name: str, encoded: bytes, reply: Reply[None]) -> None:
        try:
            await self._posts.keep(post, encoded)
        except (StoreError, KernelError) as error:
            self._gone(post)
            sentence = f"{name} was not taken: {in_words(error)}. Fix that, and send it again."
            self._complain(sentence)
            if not reply.abandoned:
                reply.fail(NotKept(sentence))
        else:
            self._queue.kept(post)
            if not reply.abandoned:  # a poster that did not wait has its problem all the same
                reply.set(None)
        finally:
            self._coming -= post.size
        self._go_on()

    # -- taking in

    def _go_on(self) -> None:
        while (post := self._queue.take(BESIDE if self._coming else AT_ONCE)) is not None:
            before, self._last = self._last, trio.Event()
            post.at = self._at = max(self._problems.wall(), self._at + INSTANT)
            self.run_beside(self._take_in, post, before, self._last)
        rest = f", {len(self._resting):,} of them to be tried again" if self._resting else ""
        self.note = f"{self._taken_in:,} taken in"
        if self._last_name:
            self.note += f"; the last was {self._last_name}"
        if self._queue.count:
            self.note += f"; {self._queue.count:,} wait{rest}"

    async def _take_in(self, post: Post, before: trio.Event, told: trio.Event) -> None:
        try:
            news = None if post.end is not None else await self._tried(post)
            await before.wait()
            if news is not None:
                await self._tell_shelf(news)
        finally:
            told.set()
        if post.end is not None:
            await self._end(post)
        if post.where is IN_HAND:
            self._rest(post)
        self._go_on()

    async def _tried(self, post: Post) -> ShelfMessage | None:
        """Tries to write a post, and returns the message for the shelf. If the post is done, `post.end` says how."""
        task = post.task
        try:
            if task is None:
                task = await self._read(post)
            listed = await self._written(post, task)
        except NeverAnswered:
            post.end = Whole()
            return None
        except Exception as error:  # if a post crashes its problem, that error is raised here
            return self._failed(post, "A post" if task is None else task.name, error)
        finally:
            post.again = True
            post.tries += 1
        post.end = Whole()
        if post.told:  # the obstacle has gone, perhaps also for other posts
            for other in tuple(self._resting.values()):
                self._wake(other)
        self._taken_in += 1
        self._last_name = task.name
        return Changed(listed, arrived=True, number=post.number)

    def _failed(self, post: Post, name: str, error: Exception) -> ShelfMessage | None:
        if isinstance(error, FileExistsError) and not post.tries:
            return None  # a user is editing in the folder; the next attempt sees that
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
        elif isinstance(error, StoreError):
            reason = str(error)
        elif isinstance(error, TooSlow):
            reason = f"the disk has not answered for {lasting(SECONDS)}"
        elif _passes(error):
            return None
        else:
            post.failures += 1
            if post.failures < MOST_FAILURES:
                return None
            why = f"{describe(error)}. It was tried {post.failures} times, and is set aside"
            post.end = Aside(f"{name} was not taken in: {why}. Send it again.")
            return TellEverybody(post.end.why)
        if post.told:
            return None
        post.told = True
        folder = self._problems.folders.root
        later = "It is kept, and will be written when that is fixed."
        self._complain(f"{name} was not written to {folder} yet: {reason}. {later}")
        return None

    async def _read(self, post: Post) -> Task:
        parts = await self._posts.parts(post)
        if post.size <= LARGE:
            return read(parts)
        return await self._problems.machine(self.stage.registry).apart(read, parts)

    async def _written(self, post: Post, task: Task) -> Listed:
        place: TaskPlace = await self._shelf.ask(partial(PlaceFor, task), timeout=SECONDS)
        try:
            return await self._hand_over(post, task, place)
        except ActorDown as down:
            if not down.stop.why.normal:
                raise
            return await self._hand_over(post, task, place)  # the problem was just leaving, because nobody looked at it

    async def _hand_over(self, post: Post, task: Task, place: TaskPlace) -> Listed:
        problem = await self._problems.actor(self.stage.registry, place.id)
        return await problem.ask(partial(Arrived, task, place, at=post.at, again=post.again), timeout=SECONDS)

    # -- coming to an end

    async def _end(self, post: Post) -> None:
        """Records the post's end in the store. If that fails, it is tried again, too."""
        try:
            if isinstance(post.end, Aside):
                await self._set_aside(post, post.end)
            else:
                await self._posts.over(post)
                for other in [other for other in self._aside.values() if other.lane == post.lane]:
                    await self._forget_aside(other)
        except (StoreError, KernelError):
            return
        self._gone(post)

    async def _set_aside(self, post: Post, aside: Aside) -> None:
        await self._posts.set_aside(post, aside.why)
        self._aside[post.number] = post
        while len(self._aside) > MOST_ASIDE or sum(each.size for each in self._aside.values()) > MOST_ASIDE_BYTES:
            await self._forget_aside(self._aside[min(self._aside)])

    async def _forget_aside(self, post: Post) -> None:
        await self._posts.forget_aside(post)
        self._aside.pop(post.number, None)

    def _rest(self, post: Post) -> None:
        self._queue.rest(post)
        self._resting[post.number] = post
        seconds = growing_wait(AGAIN_SECONDS, post.tries - 1, SELDOM_SECONDS)
        self._agenda.put(post.number, self.stage.now() + seconds + APART_SECONDS * len(self._resting))
        self._set_timer()

    def _set_timer(self) -> None:
        """One for all posts that rest: an actor may have only so many."""
        due = self._agenda.next
        if self._timer is not None and self._timer.pending:
            if self._timer.due <= due:
                return
            self._timer.cancel()
        if due < math.inf:
            self._timer = self.tell_later(max(0.0, due - self.stage.now()), TryPostsAgain())

    def _wake(self, post: Post) -> None:
        if post.where is RESTING:
            del self._resting[post.number]
            self._agenda.drop(post.number)
            self._queue.wake(post)

    def _gone(self, post: Post) -> None:
        if post.task is not None:
            self._near -= post.size
            post.task = None
        self._queue.gone(post)

    # -- telling

    def _complain(self, sentence: str) -> None:
        """Reports trouble with a post, but never floods the panels with sentences."""
        if self._quiet:
            self._untold += 1
            self._newest = sentence
            return
        self._quiet = True
        self.tell_later(COMPLAIN_SECONDS, Complain())
        self.run_beside(self._tell_shelf, TellEverybody(sentence))

    async def _tell_shelf(self, news: ShelfMessage) -> None:
        with suppress(KernelError):  # the shelf is restarting, and finds everything in the store
            await self._shelf.send(news)

    @property
    def _shelf(self) -> ActorRef[ShelfMessage]:
        return self.stage.registry.get(SHELF)


def _others(count: int) -> str:
    return {0: "", 1: " The same goes for another one."}.get(count, f" The same goes for {count:,} others.")


def _passes(error: BaseException | None) -> bool:
    """Whether this error, or its cause, is one that the post is not to blame for."""
    while error is not None:
        if isinstance(error, PASSING):
            return True
        error = error.__cause__
    return False
