"""The indexer of one workspace: it decides when the index is brought up to date, and answers how far it is.

    port, turns, sessions ── IndexAsked, Find, Reindex, ... ──> Indexer ── update, find ──> WorkspaceIndex (given.py)
                                                                   <── WatchNews ── FolderWatches

Rules
  - The work is done elsewhere, in processes and threads. Here it is a task beside the mailbox, one update at a time,
    and no message waits for it. Changes that come meanwhile are gathered (changes.py) for the next update.
  - The index begins with its first use: a search, a rebuild, a refresh, a reported change. To ask how far it is begins
    nothing. As long as the indexer is awake, its folder is watched. A folder that cannot be watched is looked at every
    few seconds, and the status says so.
  - A rebuild breaks off the update that runs. Cancelling is safe at any moment, and so is a kill: the next update goes
    on from the last commit.
  - An update that fails is tried again, after longer and longer times, and sooner if somebody asks. A folder that is
    gone leaves its index as it is, and is found again when it is back.
  - A disk that hangs is not waited for: everything here has a deadline.
  - Its status is told at most ten times a second, to those who follow it and to the workspaces.
  - When an update is over, the missing vectors are asked for, beside everything else: that may take an hour, and a save
    is found meanwhile. If the embedding model's server is away, the status says so, and the server is asked again
    later.
  - An indexer that nobody needs ends, unless its workspace is to be watched all the time.
"""

import logging
import math
from contextlib import suppress

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.agent.given import FileRefused, Trees
from actors.agent.index.catching_up import CatchingUp
from actors.agent.index.changes import Changes
from actors.agent.index.embedding import Embedding
from actors.agent.index.following import FOLLOW_SECONDS, Followers
from actors.agent.index.given import FolderWatches, Indexes, IndexTrouble, WatchNews
from actors.agent.index.messages import (
    INDEXERS,
    ChangesTold,
    Find,
    FollowIndex,
    IndexAsked,
    IndexerBusy,
    IndexerMessage,
    Reindex,
    WatchWorkspace,
)
from actors.agent.index.questions import IndexQuestions
from actors.agent.index.states import CURRENT, MOVES, OPENING, TROUBLED, UPDATING, IndexerEvent
from actors.agent.index.telling import status_of
from actors.agent.index.told_paths import told_paths
from actors.agent.index.watch import FolderWatch
from actors.agent.messages import WORKSPACES, IndexNoted
from actors.kernel import Actor, KernelError, Reply, Timer, growing_wait
from codec.agent.index.telling import IndexFacts, IndexWish
from codec.agent.workspaces import IndexStatus, WorkspaceFact

OPEN_SECONDS, CHECK_SECONDS = 10.0, 5.0
STALLED_SECONDS = 300.0
"""An update that says nothing for so long is given up."""
REST_SECONDS = 600.0
"""After so long without a use an indexer ends."""
PACE_SECONDS = 0.1
"""Between two statuses that are told."""
GATHER_SECONDS, MANY = 0.5, 64
"""While so many paths come in a second, an update waits so long for more."""
AGAIN_SECONDS, LONGEST_AGAIN = 2.0, 60.0
NOTICED = 200
"""An update that nobody has asked for is told of when it has changed so many files."""

logger = logging.getLogger("troupe.agent")


class IndexMeans(Struct, frozen=True):
    """What indexers are made from."""

    indexes: Indexes
    watches: FolderWatches
    trees: Trees


class TellStatus(Struct, frozen=True):
    """The status may be told again."""


class BeginNow(Struct, frozen=True):
    """It is time for the update that waits."""


class OpenAgain(Struct, frozen=True):
    pass


class SeeWhoNeedsIt(Struct, frozen=True):
    """Whether anybody needs it."""


class FollowedLong(Struct, frozen=True):
    """Somebody has followed for long enough without any news."""

    reply: Reply[IndexStatus]


class EmbedAgain(Struct, frozen=True):
    """It is time to ask the embedding model again."""


Heard = IndexerMessage | TellStatus | BeginNow | OpenAgain | SeeWhoNeedsIt | FollowedLong | EmbedAgain


class Begun(Struct, frozen=True):
    """What outlives a crash: that the index is in use, and how it is watched."""

    watch: bool
    polling: bool
    firm: bool


class Indexer(Actor[Heard]):
    def __init__(self, fact: WorkspaceFact, means: IndexMeans) -> None:
        self._known = fact
        self._means = means
        self._index = means.indexes.index(fact.id, fact.path)
        self._state = OPENING
        self._facts: IndexFacts | None = None
        self._trouble = ""
        self._changes = Changes()
        self._catching_up = CatchingUp(self._changes)
        self._begun = False
        """Whether its first use has come."""
        self._loud = False
        """Whether somebody waits for the update that runs."""
        self._running: trio.CancelScope | None = None
        self._waits: Timer | None = None
        """For more changes, before an update begins."""
        self._pace_since, self._pace_paths = 0.0, 0
        """Since when so many paths have come."""
        self._failures = 0
        self._failed_at = -math.inf
        self._paced = False
        """Whether the status was told just now."""
        self._used_at = 0.0
        self._firm = fact.auto_watch
        """Whether it stays awake to watch."""
        self._embedding: Embedding
        self._questions: IndexQuestions
        self._watch: FolderWatch
        self._shown: IndexStatus
        self._followers: Followers

    @property
    def called(self) -> str:
        return f"index of {self._known.name}"

    @property
    def trouble(self) -> str | None:
        return self._trouble or None

    # -- its life

    async def started(self, kept: object | None) -> None:
        self._used_at = trio.current_time()
        path, polling = self._known.path, self._known.use_polling
        self._watch = FolderWatch(self, path, self._means.watches, self._news, self._change, polling=polling)
        self._embedding = Embedding(
            self, self._index, self._embedded, lambda seconds: self.tell_later(seconds, EmbedAgain())
        )
        self._questions = IndexQuestions(
            self, self._index, self._known.id, self._catching_up, self._lost, self._embedding.want
        )
        self._followers = Followers(lambda reply: self.tell_later(FOLLOW_SECONDS, FollowedLong(reply)))
        self._shown = self._status()
        if isinstance(kept, Begun):
            self._watch.wanted, self._watch.polling, self._firm = kept.watch, kept.polling, kept.firm
            self._use()
        self.run_beside(self._open)
        self._look_around()

    def keep(self) -> object | None:
        return Begun(self._watch.wanted, self._watch.polling, self._firm) if self._begun else None

    def at_once(self, message: Heard) -> bool:
        self._hear(message)
        return True

    async def handle(self, message: Heard) -> None:
        self._hear(message)

    def _hear(self, message: Heard) -> None:
        match message:
            case IndexAsked(reply):
                self._used_at = trio.current_time()
                reply.set(self._shown)
            case Find():
                self._use()
                self._watch.touched(message.query.opened)
                self._begin_soon()
                self._questions.ask(message)
            case Reindex(anew, reply):
                self._reindex(anew)
                reply.set(self._show())
            case ChangesTold(changes, reply):
                self._use()
                paths = told_paths(changes).paths
                self._watch.touched(paths)
                self._changes.told(paths)
                self._begin_soon()
                if reply is not None:
                    reply.set(self._show())
            case WatchWorkspace(wanted, polling, reply):
                self._firm = wanted
                if wanted:
                    self._use()
                    self._begin_soon()
                self._watch.want(wanted and self._begun, polling=polling)
                reply.set(self._show())
            case FollowIndex(seen, reply):
                self._followers.follow(seen, self._shown, reply)
            case FollowedLong(reply):
                self._followers.over(reply, self._shown)
            case TellStatus():
                self._paced = False
                self._change()
            case BeginNow():
                self._waits = None
                self._begin()
            case OpenAgain():
                self._waits = None
                self._open_again()
            case SeeWhoNeedsIt():
                self._look_around()
            case EmbedAgain():
                self._embedding.again()
            case _:
                self.unknown(message)

    def _look_around(self) -> None:
        """Ends, if nobody needs it."""
        if self._firm and self._begun:
            needed = True
        else:
            asked = bool(self._followers) or bool(self._questions) or self._embedding.runs
            needed = asked or self._state in (OPENING, UPDATING)
        left = REST_SECONDS - (trio.current_time() - self._used_at)
        if not needed and left <= 0:
            self.finish()
        else:
            self.tell_later(max(left, REST_SECONDS / 10), SeeWhoNeedsIt())

    def _use(self) -> None:
        self._used_at = trio.current_time()
        if not self._begun:
            self._begun = True
            self._changes.told_all(quiet=False)
            self._watch.want(self._watch.wanted, polling=self._watch.polling)
        if trio.current_time() >= self._failed_at + AGAIN_SECONDS:
            self._open_again()

    # -- opening

    async def _open(self) -> None:
        try:
            with trio.fail_after(OPEN_SECONDS):
                facts = await self._index.facts()
        except IndexTrouble as trouble:
            self._fail(str(trouble))
        except trio.TooSlowError:
            self._fail("The disk that the index is kept on does not answer.")
        else:
            self._facts = facts
            if not self._changes:
                self._trouble = ""
            self._move(IndexerEvent.OPENED)
            self._catching_up.opened(complete=facts.complete)
            self._begin_soon()
            self._change()

    def _open_again(self) -> None:
        if self._state is TROUBLED:
            if self._waits is not None:
                self._waits.cancel()
                self._waits = None
            self._move(IndexerEvent.AGAIN)
            self.run_beside(self._open)

    def _fail(self, sentence: str) -> None:
        if sentence != self._trouble:
            logger.warning("the index of %s: %s", self._known.path, sentence)
        self._trouble = sentence
        self._catching_up.fails(sentence)
        self._failed_at = trio.current_time()
        self._move(IndexerEvent.FAIL)
        again = growing_wait(AGAIN_SECONDS, self._failures, LONGEST_AGAIN)
        self._failures += 1
        if self._waits is not None:
            self._waits.cancel()
        self._waits = self.tell_later(again, OpenAgain())
        self._change()

    # -- updating

    def _reindex(self, anew: bool) -> None:
        self._use()
        self._changes.told_all(anew=anew, quiet=False)
        self._open_again()
        self._embedding.forget_failures()
        if anew and self._running is not None:
            self._running.cancel()
        self._begin_soon()

    def _news(self, news: WatchNews) -> None:
        if news.lost:
            self._changes.told_all()
            self._open_again()  # the folder may be back
        now = trio.current_time()
        if now - self._pace_since > 1.0:  # a flood does not end with its second
            self._pace_paths = self._pace_paths // 2 if now - self._pace_since < 2.0 else 0
            self._pace_since = now
        self._pace_paths += len(news.paths)
        self._changes.told(news.paths)
        self._begin_soon()

    def _lost(self) -> None:
        """A question knows it first if the file has gone, or has just been put aside."""
        if self._state is CURRENT:
            self._changes.told_all(quiet=False)
            self._begin_soon()

    def _begin_soon(self) -> None:
        """At once, but a flood is let in first."""
        if self._waits is None and self._changes and self._state in MOVES.befores(IndexerEvent.BEGIN):
            flood = max(len(self._changes), self._pace_paths) > MANY
            if flood and not self._changes.whole and trio.current_time() - self._pace_since <= 1.0:
                self._waits = self.tell_later(GATHER_SECONDS, BeginNow())
            else:
                self._begin()

    def _begin(self) -> None:
        if not self._changes or self._state not in MOVES.befores(IndexerEvent.BEGIN):
            return
        self._loud = not self._changes.quiet or bool(self._trouble)
        wish = self._changes.taken()
        self._move(IndexerEvent.BEGIN)
        self._catching_up.begins()
        self._running = trio.CancelScope()
        self.run_beside(self._update, wish, self._running)
        self._change()

    async def _update(self, wish: IndexWish, scope: trio.CancelScope) -> None:
        facts: IndexFacts | None = None
        trouble = ""
        stalled = trio.CancelScope(deadline=trio.current_time() + STALLED_SECONDS)

        def said(facts: IndexFacts) -> None:
            stalled.deadline = trio.current_time() + STALLED_SECONDS
            self._heard(facts)

        with scope, stalled:
            try:
                if wish.paths is None:
                    await self._check_folder()
                facts = await self._index.update(wish, said)
            except (IndexTrouble, FileRefused) as error:
                trouble = str(error)
        self._running = None
        if facts is not None:
            if wish.paths is not None and not facts.complete:  # its file was deleted: there is only what was just read
                self._changes.told_all(quiet=False)
            self._over(facts)
        else:
            self._changes.back(wish, quiet=not self._loud)
            self._loud = False
            if trouble or stalled.cancelled_caught:
                self._fail(trouble or f"The disk of {self._known.path} does not answer.")
            else:
                self._move(IndexerEvent.BREAK_OFF)
                self._catching_up.breaks_off()
                self._begin_soon()

    async def _check_folder(self) -> None:
        """An empty folder in its place, or none, is no reason to forget what is known. Raises FileRefused."""
        path = self._known.path
        with trio.move_on_after(CHECK_SECONDS) as scope:
            if await self._means.trees.check(path) != path:
                raise FileRefused(f"There is a link in place of the folder {path}.")
        if scope.cancelled_caught:
            raise FileRefused(f"The disk of {path} does not answer.")

    def _heard(self, facts: IndexFacts) -> None:
        self._facts = facts
        self._loud = self._loud or facts.changed >= NOTICED
        self._change()

    def _over(self, facts: IndexFacts) -> None:
        self._failures, self._trouble, self._loud = 0, "", False
        self._facts = facts
        self._move(IndexerEvent.DONE)
        self._catching_up.ends(complete=facts.complete)
        self._embedding.want()
        self._begin_soon()
        self._change()

    def _embedded(self, facts: IndexFacts | None) -> None:
        """An update that runs tells the rest, and later ones."""
        if facts is not None and self._facts is not None and facts.generation >= self._facts.generation:
            known, troubles = facts.generation, facts.troubles
            self._facts = replace(
                self._facts, mode=facts.mode, vectors=facts.vectors, generation=known, troubles=troubles
            )
        self._change()

    # -- what is told

    def _status(self) -> IndexStatus:
        return status_of(
            self._known,
            self._facts,
            self._state,
            loud=self._loud or bool(self._trouble) or (bool(self._changes) and not self._changes.quiet),
            trouble=self._trouble or self._embedding.trouble,
            watching=self._watch.how,
            said=self._watch.said,
        )

    def _change(self) -> None:
        """The status may be another one. It is told, if none was told just now."""
        if not self._paced and self._status() != self._shown:
            self._paced = True
            self.tell_later(PACE_SECONDS, TellStatus())
            self._show()

    def _show(self) -> IndexStatus:
        """All are told the same, in the same order. An actor that has changed something is told the outcome at once."""
        status = self._status()
        if status != self._shown:
            self._shown = status
            self.note = f"{status.index_status}, {status.indexed_files:,} of {status.total_files:,} files"
            self._followers.show(status)
            self._tell_workspaces()
        return status

    def _tell_workspaces(self) -> None:
        with suppress(KernelError):  # it asks again when somebody wants to know, and the next status tells it all
            self.stage.registry.get(WORKSPACES).tell(IndexNoted(self._shown))

    def _move(self, event: IndexerEvent) -> None:
        was, self._state = self._state, MOVES.after(event, self._state, self.ref.path)
        if (was is UPDATING) is not (self._state is UPDATING):
            with suppress(KernelError):
                self.stage.registry.get(INDEXERS).tell(IndexerBusy(self._known.id, self._state is UPDATING))
