"""Adopting: requests that scripts have dropped into the folder become ours, with their whole content, when first seen.

    request     the journal knows
    readable    nothing                         it is journalled; if a success lies there already, as one that is over
    readable    the same content, over          nothing is to be done
    readable    other content, over             the old files are archived, and it begins anew, and says so
    readable    nothing, and failed/ has the    it is journalled as one that was given up, by a client whose journal is
                very answer that lies there     another one; unless the request is newer than that answer
    spoiled     nothing, or something over      it fails at once, with the reason
    torn        -                               it is looked at again

Rules
  - Requests that were answered before the first client came are left alone. At a start only names are compared. What
    stands in requests/ and not in responses/ is read, and so is what has come since the last client lived: it may have
    been answered, with an error that nobody has seen, while nobody was there. To find that out takes a look at each
    file, and what has no answer does not wait for it.
  - While we live, each request that appears is adopted, though it was answered before we looked.
  - A script may have dropped another request of the same id as soon as the first one was answered, and before that was
    adopted. Then the answer that lies there is to the first one. The server end sets it aside, and once another answer
    is there, the request begins anew with that. One that comes a little later, or earlier, has its turn when the first
    one is over.
  - Nobody waits for it, so it lets the server end go first, and those that come in a row are journalled together. Most
    have their answer by then, and need no errand.
  - In the dialect of HEAD our server end does wait: it asks for each request that it has answered, and removes it when
    we know it. Those are adopted before all others. It is refused while another one of that id is open, and while what
    it takes for the answer is known to be another one's.
  - What was answered and has gone before that is over (overtaken.py), and what stands there now comes after it.
  - Where a HEAD peer has taken a request before we saw it, the script's copy counts (copies.py).
  - If a power cut takes such a row, the folder tells it anew, and nobody was promised more. So the row is soft, unless
    the folder may lose the request meanwhile: a HEAD peer removes it, an old request is archived with its files, and a
    copy is deleted.
  - Submitters take turns here too, told apart by how their ids begin (fairness.py): a lone request is journalled before
    the twenty thousand that came before it.
  - A look at all names is taken seldom (seldom.py), and beside the adopting, which does not wait for it.
"""

import itertools
import math
from collections.abc import Collection, Iterable, Mapping

import trio
from msgspec.structs import replace

from actors.ipc.again import AGAIN_SECONDS, WantedWork
from actors.ipc.books import Books, reopened
from actors.ipc.client_steps import Journal, Row, State, View, next_step
from actors.ipc.copies import Copies, Copy, fingerprint_of, taken_answer
from actors.ipc.dossier import Dossier, begun, is_of, labelled, noted, stepped
from actors.ipc.errand import TORN_SECONDS, ErrandMeans
from actors.ipc.fairness import FairQueue
from actors.ipc.given import TROUBLE, Asked, BothFiles, Tray
from actors.ipc.messages import TakeUp
from actors.ipc.overtaken import Overtaken
from actors.ipc.pinging import PING
from actors.ipc.seldom import SeldomLooks
from actors.ipc.steps import Answer, Spoiled, Torn
from actors.ipc.telling_time import day_of, moment_of
from actors.ipc.vouching import TAKEN
from actors.kernel import KernelError, Reply
from actors.store import all_of
from codec.ipc import Dialect, Failure, Request, in_turn

CHUNK = 200
GATHER_SECONDS = 0.025
MOST_UNSURE = 1_000
RECALLED = "it had been answered, and its answer taken away, before this server saw either."


class Adopting:
    def __init__(self, means: ErrandMeans, books: Books) -> None:
        self._means = means
        self._books = books
        self._ids = FairQueue()
        self._copies = Copies(means.base)
        self._overtaken = Overtaken(means)
        self._leaving: dict[str, list[tuple[TakeUp, bytes | None]]] = {}
        """The server end is to remove them, and waits for our reply; and what was open of their ids when it asked."""
        self._torn: dict[str, None] = {}
        """Somebody is writing them."""
        self._torn_until = 0.0
        self._wanted, self._hurry = trio.Event(), trio.Event()
        self._rescan = WantedWork()
        self._seen: frozenset[str] | None = None
        """All names in requests/, at the last look. None: there was none."""
        self._unsure: dict[str, None] = {}
        """The last that had an answer when they were adopted of which nobody knows whether it was theirs."""
        self._settled: set[str] = set()
        """Without an answer, and over all the same."""
        self._looks = SeldomLooks()

    def consider(self, ids: Iterable[str]) -> None:
        """These have changed."""
        for id in in_turn(ids):  # noqa: A001 - as in the contract
            self._ids.add(id)
        if len(self._ids):
            self._wanted.set()

    def consider_copies(self, ids: Collection[str]) -> None:
        self._copies.told(ids)
        self.consider(ids)

    def waits(self, id: str) -> bool:  # noqa: A002 - as in the contract
        """For the end of the request of this id that is open."""
        return id in self._means.touched or id in self._copies

    def take_up(self, question: TakeUp) -> None:
        was_open = self._books.open.get(question.id)
        if was_open is not None:
            self._means.touched.add(question.id)
        if was_open == question.fingerprint:
            self._reply(question)
        else:
            self._leaving.setdefault(question.id, []).append((question, was_open))
            self._wanted.set()
            self._hurry.set()

    def consider_answers(self, ids: frozenset[str]) -> None:
        """Something has happened to their answers."""
        if self._unsure:
            self.consider(ids & self._unsure.keys())

    def reopened(self) -> None:
        """The folder may be another one."""
        self._looks.reopened()

    def rescan(self) -> None:
        self._rescan.want()

    async def adopt(self) -> None:
        """Runs beside the client end."""
        while True:
            with trio.move_on_after(TORN_SECONDS if self._torn else math.inf):
                await self._wanted.wait()
            with trio.move_on_after(GATHER_SECONDS):
                await self._hurry.wait()
            self._wanted, self._hurry = trio.Event(), trio.Event()
            if self._torn and trio.current_time() >= self._torn_until:
                self.consider(self._torn)
                self._torn.clear()
            chunk: list[str] = []
            questions: list[TakeUp] = []
            try:
                while chunk := self._next_chunk():
                    leaving = {id: self._leaving.pop(id) for id in chunk if id in self._leaving}  # noqa: A001
                    questions = [question for some in leaving.values() for question, _ in some]
                    async with self._books.lock:
                        self._means.touched.update(self._books.open.keys() & chunk)
                        unknown = [id for id in chunk if id not in self._books.open]  # noqa: A001
                        asked = [each for some in leaving.values() for each in some]
                        waiting = [each for each, open_ in asked if await self._waits_for_another(each, open_)]
                        for each in waiting:
                            leaving.pop(each.id, None)
                        copies = await self._copies.found(chunk)
                        torn = await self._adopt(unknown, leaving, copies)
                        await self._copies.forget(copies, self._books.open, torn)
                    if torn:
                        self._torn.update(dict.fromkeys(torn))
                        self._torn_until = trio.current_time() + TORN_SECONDS
                    for each in waiting:
                        why = f"another request {each.id} is under way; this one waits until that is over"
                        _refuse(each.reply, why)
                    for each in questions:  # a request that is torn is being written anew: both ends hear of that
                        self._reply(each)
            except TROUBLE as trouble:
                for each in questions:
                    _refuse(each.reply, str(trouble))
                self.consider_copies(chunk)
                self.rescan()
                await trio.sleep(AGAIN_SECONDS)

    def _reply(self, question: TakeUp) -> None:
        if question.id in self._means.stale and question.found:
            _refuse(question.reply, f"an answer to another request {question.id} is to be put away first")
        elif question.reply.wanted:
            question.reply.set(None)

    async def _waits_for_another(self, question: TakeUp, was_open: bytes | None) -> bool:
        """What is open of its id is another request: not only the same, with other wishes. Or it was when the server
        end asked: the answer that lies there may be its."""
        is_open = self._books.open.get(question.id)
        if is_open == question.fingerprint or self._means.vouching.is_over(question.id, question.fingerprint):
            return False
        if is_open is None or is_open != was_open:
            return is_open != was_open
        there = (await self._means.base.look(question.id)).request
        known = await self._means.journal.find(question.id)
        if known is None or not isinstance(there, Asked) or there.request.fingerprint != question.fingerprint:
            return True
        return not is_of(known, there.request)

    def _next_chunk(self) -> list[str]:
        leaving = list(itertools.islice(self._leaving, CHUNK))
        for id in leaving:  # noqa: A001
            self._ids.discard(id)
        return leaving or self._ids.take_some(0.0, CHUNK)

    async def look_around(self) -> None:
        """Runs beside the client end, and beside the adopting."""
        await self._rescan.serve(self._look_at_all_names)

    async def _look_at_all_names(self) -> None:
        base, began = self._means.base, trio.current_time()
        health = await base.health()
        if not self._looks.is_due(health):
            return
        self.consider_copies(await base.ids(Tray.SUBMITTED))
        requests, responses = await base.ids(Tray.REQUESTS), await base.ids(Tray.RESPONSES)
        found = requests - responses
        if self._seen is None:  # each is asked for its time, which takes longer than all else
            self._consider_found(found)
            found = await base.missed(requests)
        else:
            found |= requests - self._seen
        self._seen = requests
        self._looks.looked(health, began)
        self._settled &= requests
        self._consider_found(found)

    def _consider_found(self, found: frozenset[str]) -> None:
        self.consider(found - self._books.open.keys() - self._settled)

    async def _adopt(self, ids: list[str], leaving: Collection[str], copies: Mapping[str, Copy]) -> list[str]:
        """Those that are torn. `leaving`: those to which our server end writes nothing more."""
        ids = [id for id in ids if not id.startswith(PING)]  # noqa: A001
        before = await all_of(ids, self._means.journal.find_over)
        looks = await all_of(ids, self._means.base.look)
        before = await self._after_overtaken(ids, before, looks, copies)
        stand = {id for id, both in zip(ids, looks, strict=True) if both.request is not None}  # noqa: A001
        seen = {
            id: self._completed(id, over, both, copies.get(id))
            for id, over, both in zip(ids, before, looks, strict=True)  # noqa: A001
        }
        torn, fresh, late = [], [], []
        ended = {over.id for over in before if over is not None and not over.made_way}
        unknown = [id for id in ids if id not in ended]  # noqa: A001
        recalled = await self._recalled({id: seen[id] for id in unknown if id in copies and id not in stand})  # noqa: A001
        seen |= recalled
        given_up = await self._given_up({id: seen[id] for id in unknown})  # noqa: A001
        for over, (id, both) in zip(before, seen.items(), strict=True):  # noqa: A001
            self._settled.discard(id)
            if isinstance(both.request, Torn):
                torn.append(id)
            elif both.request is not None and (dossier := self._opened(id, over, both, id in copies)) is not None:
                if id in given_up:
                    dossier = self._ended(dossier, both)
                else:
                    dossier = self._answered(dossier, both, stays=id in stand and id not in leaving)
                if id in recalled:
                    dossier = noted(dossier, f"{moment_of(self._means.wall())}: {RECALLED}")
                fresh.append(dossier)
                is_told = dossier.answered == TAKEN
                if dossier.state is State.SUCCESS and not is_told and (over is None or over.answered is None):
                    self._is_unsure(id)
            elif over is not None:
                self._settled.add(id)
                self._means.vouching.over(over)
                if (told := self._came_late(over, both)) is not None:
                    late.append(told)
        succeeded = {dossier.id for dossier in fresh if dossier.state is State.SUCCESS}
        if again := [dossier.id for dossier in fresh if dossier.id in ended and not dossier.stale]:
            for tray in (Tray.FAILED, Tray.EVALUATIONS):  # they tell of the other request
                await self._means.base.archive(again, day_of(self._means.wall()), tray)
        if fresh or late:
            for dossier in await self._means.journal.keep(*fresh, *late, soft=self._stay(fresh) and not copies):
                if dossier.is_over:
                    self._means.vouching.over(dossier)
                    self._means.noting.changed(dossier)
                    if dossier.id in succeeded:
                        self._means.noting.succeeded(dossier)
                else:
                    if dossier.tried:
                        self._means.vouching.forget(dossier)  # an error counts once
                    both = seen[dossier.id]  # an answer may have come since, and in HEAD the request may have gone
                    is_known = self._stays and isinstance(both.response, Answer | Spoiled)
                    self._books.take_in(dossier, both if is_known else None)
        return torn

    async def _after_overtaken(
        self, ids: list[str], before: list[Dossier | None], looks: list[BothFiles], copies: Mapping[str, Copy]
    ) -> list[Dossier | None]:
        """What is over of each id, once those are that were answered and are gone."""
        found = []
        for id, over, both in zip(ids, before, looks, strict=True):  # noqa: A001
            copy = copies.get(id)
            found.append((id, over, copy.asked if copy is not None and both.request is None else both.request))
        ended = await self._overtaken.noted(found)
        return [ended.get(id, over) for id, over in zip(ids, before, strict=True)]  # noqa: A001

    def _completed(self, id: str, over: Dossier | None, files: BothFiles, copy: Copy | None) -> BothFiles:  # noqa: A002
        there, vouching = files.request, self._means.vouching
        if there is None:
            files = replace(files, request=vouching.asked(id) if copy is None else copy.asked)
        elif copy is not None and over is not None and not isinstance(there, Torn):
            was_published_over_it = fingerprint_of(there) == over.fingerprint != copy.fingerprint
            files = replace(files, request=copy.asked, took=None) if was_published_over_it else files
        return vouching.completed(id, files)

    async def _recalled(self, taken: Mapping[str, BothFiles]) -> Mapping[str, BothFiles]:
        """Of requests that a HEAD peer has taken: those whose answers somebody has taken since, with what they were."""
        gone = {id: both for id, both in taken.items() if both.response is None and not self._stays}  # noqa: A001
        failed = await self._means.base.read_several(Tray.FAILED, list(gone)) if gone else {}
        return {
            id: replace(both, response=Answer(TAKEN, taken_answer(id, failed.get(id))))
            for id, both in gone.items()  # noqa: A001
        }

    async def _given_up(self, unknown: Mapping[str, BothFiles]) -> Collection[str]:
        """A HEAD peer copies each failure to failed/, so there that says nothing."""
        if not self._stays:
            return ()
        failed = {id: both.answer for id, both in unknown.items() if _has_failed(both)}  # noqa: A001
        copies = await self._means.base.read_several(Tray.FAILED, list(failed)) if failed else {}
        return {id for id, copy in copies.items() if copy == failed[id]}  # noqa: A001

    def _is_unsure(self, id: str) -> None:  # noqa: A002 - as in the contract
        if self._stays:
            while len(self._unsure) >= MOST_UNSURE:
                del self._unsure[next(iter(self._unsure))]
            self._unsure[id] = None

    @property
    def _stays(self) -> bool:
        """A request stays when it is answered."""
        return self._means.terms.dialect is Dialect.SPEC

    def _stay(self, dossiers: Iterable[Dossier]) -> bool:
        """Their requests stay where they are, whatever happens."""
        return self._stays and not any(dossier.stale or dossier.let_go for dossier in dossiers)

    def _opened(self, id: str, over: Dossier | None, files: BothFiles, is_copied: bool) -> Dossier | None:  # noqa: A002
        """None: nothing is to be done about it."""
        found, now, up = files.request, self._means.wall(), self._means.uptime()
        if isinstance(found, Asked):
            if over is not None and not over.cancelled and self._is_same(over, found.request, is_copied=is_copied):
                if not self._has_another_answer(over, files):
                    return None
                del self._unsure[id]
            dossier = reopened(found.request, found.data, now, "dropped", over, up)
            dossier = dossier if is_copied else replace(dossier, instead_of=b"")
        else:
            assert found is not None
            assert not isinstance(found, Torn)
            if over is not None and over.fingerprint == found.fingerprint:
                return None
            request = Request(id=id, command="")
            dossier = reopened(request, b"", now, "dropped", over, up)
            failure = Failure(found.why, permanent=True)
            dossier = begun(replace(dossier, fingerprint=found.fingerprint), now)
            dossier = stepped(dossier, Row(id, State.FAILING, 1, (failure,)), now, 0.0, up)
        if over is None or over.made_way:
            return dossier
        answer = files.response
        if not isinstance(answer, Answer | Spoiled) or answer.identity in dossier.old:
            return replace(dossier, stale=True)
        if _is_older(over, files):
            return replace(dossier, stale=True, old=(*dossier.old, answer.identity))
        return replace(dossier, old=())  # its peer has been quicker, and has set the old answer aside

    def _answered(self, dossier: Dossier, files: BothFiles, *, stays: bool) -> Dossier:
        """The same; if a success lies there already, as it is after the step that its errand would take. Nobody has
        seen how long that took, so what the files say of it is believed. The script may take the answer away as soon as
        it has read it, and who looks later finds nothing. If it has done so already, that holds for a failure, too."""
        answer = files.response
        if dossier.stale or not isinstance(files.request, Asked) or not isinstance(answer, Answer):
            return dossier
        view = View(request=stays, response=answer, published=0, overdue=False, recorded=False, cleared=False)
        step = next_step(dossier.row, view, self._means.terms.dialect)
        if not isinstance(step, Journal) or (step.row.state is not State.SUCCESS and answer.identity != TAKEN):
            return dossier
        took = files.took
        if took is not None:
            dossier = replace(dossier, created=dossier.created - took, changed=dossier.changed - took)
        now = self._means.wall()
        over = labelled(stepped(dossier, step.row, now, took, self._means.uptime()), answer, now)
        return replace(over, answered=answer.identity) if over.is_over else over

    def _ended(self, dossier: Dossier, files: BothFiles) -> Dossier:
        """The same, given up with the answer that lies there."""
        answer, now = files.response, self._means.wall()
        assert isinstance(answer, Answer)
        assert isinstance(answer.outcome, Failure)
        row = Row(dossier.id, State.GAVE_UP, 1, (answer.outcome,), answer.identity)
        over = labelled(stepped(dossier, row, now, files.took, self._means.uptime()), answer, now)
        sentence = "it had been given up before this server knew of it; a requeue gives it three fresh attempts."
        return replace(noted(over, f"{moment_of(now)}: {sentence}"), answered=answer.identity)

    def _is_same(self, over: Dossier, request: Request, *, is_copied: bool) -> bool:
        """What comes through the library or the port has the wishes of whoever submits it: they do not count. A file
        that somebody has written with other wishes is another request."""
        if over.fingerprint == request.fingerprint:
            return True
        return (is_copied or over.source == "submitted") and is_of(over, request)

    def _has_another_answer(self, over: Dossier, files: BothFiles) -> bool:
        """The one that lay there when it was adopted was to another request of its id, which nobody has seen."""
        answer = files.response
        return over.id in self._unsure and isinstance(answer, Answer) and answer.identity != over.answered

    def _came_late(self, over: Dossier, files: BothFiles) -> Dossier | None:
        """An answer to a request that was given up."""
        answer = files.response
        if over.state is not State.GAVE_UP or not isinstance(answer, Answer):
            return None
        if over.cancelled or answer.identity in (over.read, over.answered):
            return None
        if over.tried and over.tried[-1].outcome == answer.outcome and isinstance(answer.outcome, Failure):
            return replace(over, answered=answer.identity)  # both ends have found the same fault in the request
        sentence = "an answer came after it had been given up; it is in responses/, and a requeue takes it."
        told = noted(over, f"{moment_of(self._means.wall())}: {sentence}")
        return replace(told, answered=answer.identity)


def _is_older(over: Dossier, files: BothFiles) -> bool:
    """The answer is to the request that is over. Both ends found the same fault in that, and nobody has read it."""
    answer = files.response
    if not isinstance(files.request, Asked) or not isinstance(answer, Answer) or not over.tried:
        return False
    return isinstance(answer.outcome, Failure) and answer.outcome == over.tried[-1].outcome


def _refuse(reply: Reply[None], why: str) -> None:
    if reply.wanted:
        reply.fail(KernelError(why))


def _has_failed(files: BothFiles) -> bool:
    """A request that is newer than the answer is another one."""
    answer, took = files.response, files.took
    return took is not None and isinstance(answer, Answer) and isinstance(answer.outcome, Failure)
