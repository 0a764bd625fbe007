"""A copy that a script has left is deleted when the journal has its request, and not before, whatever else there is."""

from collections import Counter
from collections.abc import Collection, Mapping

import pytest
import trio

from actors.ipc.client_steps import State
from actors.ipc.errand import ClientTerms
from actors.ipc.given import EntryStuck, Tray
from actors.ipc.pinging import PING
from actors.ipc.steps import Identity
from codec.ipc import Dialect, Failure, Outcome, Request, Success, write_request, write_response
from tests.ipc.client_kit import BUSY, DONE, EPOCH, NEVER, Desk, in_turn, play, put, put_with_copy, request
from tests.ipc.paper import PaperBase

SETTLED_SECONDS = 5.0
DIALECTS = [Dialect.SPEC, Dialect.HEAD]


def copies(base: PaperBase) -> set[str]:
    return {id for tray, id in base.files if tray is Tray.SUBMITTED}  # noqa: A001 - as in the contract


def taken(base: PaperBase, what: Request) -> None:
    """It was submitted, and a peer of the HEAD dialect has taken it."""
    put_with_copy(base, what)
    base.foreign_drop(Tray.REQUESTS, what.id)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stands", [True, False])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_copy_is_the_request_where_that_is_gone_and_is_deleted_when_it_is_journalled(
    dialect: Dialect, stands: bool, is_there: bool
) -> None:
    """Told as news, or found when the client end starts."""
    base, is_answered = PaperBase(), dialect is Dialect.HEAD and not stands
    what = request("a", "setMode", {"mode": "chat"})

    async def test(it: Desk) -> None:
        await it.ready()
        await trio.sleep(SETTLED_SECONDS)
        if not is_there:
            it.client.kill()
        (put_with_copy if stands else taken)(base, what)
        if is_answered:
            base.foreign_put(Tray.RESPONSES, "a", write_response("a", BUSY, (dialect,)))
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.fingerprint) == (State.SUCCESS, what.fingerprint)
        assert dossier.begun == 2
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == set()
        base.calls.clear()
        put(base, what)
        await trio.sleep(SETTLED_SECONDS)
        assert "read submitted a" not in base.calls  # nobody looks for it any more

    outcomes = [DONE] if is_answered else [BUSY, DONE]
    play(test, base=base, outcomes=in_turn(*outcomes), dialect=dialect)


@pytest.mark.parametrize("failed", [None, BUSY, NEVER])
@pytest.mark.parametrize("is_there", [True, False])
def test_what_a_peer_has_answered_and_its_script_has_tidied_up_is_not_run_for_that(
    failed: Failure | None, is_there: bool
) -> None:
    """A HEAD peer removes a request after it has answered it, and copies what has failed. The rest is a success."""
    base = PaperBase()

    async def test(it: Desk) -> None:
        await it.ready()
        await trio.sleep(SETTLED_SECONDS)
        if not is_there:
            it.client.kill()
        if failed is not None:
            base.foreign_put(Tray.FAILED, "a", write_response("a", failed, (Dialect.HEAD,)))
        taken(base, request("a"))
        base.calls.clear()
        (dossier,) = await it.over("a")
        published = base.calls.count("publish a")
        if failed is None:
            assert (dossier.state, dossier.begun, published) == (State.SUCCESS, 1, 0)
        elif failed.permanent:
            assert (dossier.state, dossier.begun, published) == (State.GAVE_UP, 1, 0)
        else:
            assert (dossier.state, dossier.begun, published) == (State.SUCCESS, 2, 1)
        assert "its answer taken away" in " ".join(dossier.notes)
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == set()

    play(test, base=base, outcomes=in_turn(DONE), dialect=Dialect.HEAD)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("crashes", [True, False])
def test_the_copy_of_another_request_waits_until_the_one_of_its_id_is_over(dialect: Dialect, crashes: bool) -> None:
    base, may_end = PaperBase(), False
    first, second = (request("a", params={"n": number}) for number in (1, 2))

    async def test(it: Desk) -> None:
        nonlocal may_end
        if dialect is Dialect.HEAD:
            put(base, first)
            await trio.sleep(SETTLED_SECONDS)  # by then it is journalled
            base.foreign_put(Tray.SUBMITTED, "a", write_request(second))
        else:
            await it.submit(first)
            taken(base, second)
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == {"a"}
        if crashes:
            it.client.kill()
            await trio.sleep(SETTLED_SECONDS)
            assert copies(base) == {"a"}
        may_end = True
        await trio.sleep(SETTLED_SECONDS)
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.fingerprint) == (State.SUCCESS, second.fingerprint)
        assert "another request of this id had ended before (success, 1 attempt)" in " ".join(dossier.notes)
        assert copies(base) == set()

    play(test, base=base, outcomes=lambda _: DONE if may_end else None, dialect=dialect)


@pytest.mark.parametrize("trouble", ["full", "unwritable", "gone"])
def test_a_copy_that_cannot_be_deleted_now_is_deleted_afterwards(trouble: str) -> None:
    base = PaperBase()

    async def test(it: Desk) -> None:
        await it.ready()
        await trio.sleep(SETTLED_SECONDS)
        forget, is_over = base.forget, False

        async def failing(them: dict[str, bytes]) -> None:
            if not is_over:
                if trouble == "gone":
                    base.lose("it is gone")
                else:
                    setattr(base, trouble, True)
                await base._trip("forget", writes=True)
            await forget(them)

        base.forget = failing  # type: ignore[assignment, method-assign]
        taken(base, request("a"))
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == {"a"}
        is_over = True
        if trouble == "gone":
            base.mend()
        else:
            setattr(base, trouble, False)
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.begun) == (State.SUCCESS, 1)
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == set()

    play(test, base=base, outcomes=in_turn(DONE), dialect=Dialect.HEAD)


def test_a_copy_that_cannot_be_read_as_a_request_fails_in_words_and_is_deleted() -> None:
    base = PaperBase()
    odd = {"array": b"[]", "half": b'{"request_id": "ha', "other": write_request(request("another"))}

    async def test(it: Desk) -> None:
        for id, data in odd.items():  # noqa: A001
            base.foreign_put(Tray.SUBMITTED, id, data)
        base.foreign_put(Tray.SUBMITTED, f"{PING}1", write_request(request(f"{PING}1")))
        for dossier in await it.over(*odd):
            assert dossier.state is State.GAVE_UP
            assert dossier.row.failures[0].permanent
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == set()

    play(test, base=base, dialect=Dialect.HEAD)


class RacedBase(PaperBase):
    """While a request is on its way there, a script puts the same there, and its peer answers and removes that."""

    def __init__(self, *outcomes: Failure | Success, tidies: bool = False) -> None:
        """`tidies`: the script reads the answer at once, and takes it away."""
        super().__init__()
        self._outcomes = iter(outcomes)
        self._tidies = tidies
        self.stood: list[object] = []
        """What has stood there after each publication."""

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        for id in requests:  # noqa: A001
            outcome = next(self._outcomes, None)
            if outcome is not None and self._tidies:
                await trio.sleep(1.0)  # what is told of it is heard before
            if outcome is not None:
                taken(self, request(id, submitter="script"))
                answer = write_response(id, outcome, (Dialect.HEAD,))
                if isinstance(outcome, Failure):
                    self.foreign_put(Tray.FAILED, id, answer)
                if not self._tidies:
                    self.foreign_put(Tray.RESPONSES, id, answer)
        stuck = await super().publish(requests, first, by_turns=by_turns)
        self.stood += [self.files.get((Tray.REQUESTS, id)) for id in requests]  # noqa: A001
        return stuck


@pytest.mark.parametrize("tidies", [True, False])
@pytest.mark.parametrize("outcome", [DONE, BUSY, NEVER])
def test_what_a_script_submits_while_the_first_attempt_is_published_is_that_attempt(
    outcome: Failure | Success, tidies: bool
) -> None:
    base, runs = RacedBase(outcome, tidies=tidies), 0

    def ours(_: str) -> Outcome:
        nonlocal runs
        runs += 1
        return DONE

    async def test(it: Desk) -> None:
        await it.submit(request("a"))
        with trio.fail_after(30.0):
            (dossier,) = await it.over("a")
        assert not dossier.notes
        assert dossier.state is (State.GAVE_UP if outcome is NEVER else State.SUCCESS)
        assert (dossier.begun, runs) == ((2, 1) if outcome is BUSY else (1, 0))
        await trio.sleep(SETTLED_SECONDS)
        assert copies(base) == set()
        assert (Tray.REQUESTS, "a") not in base.files

    play(test, base=base, outcomes=ours, dialect=Dialect.HEAD)


def test_a_later_attempt_is_published_whatever_stands_there() -> None:
    """A peer may have missed what stands there, and looks again if it comes anew."""
    base = RacedBase()

    async def test(it: Desk) -> None:
        await it.submit(request("a"))
        (dossier,) = await it.over("a")
        assert dossier.state is State.GAVE_UP
        assert len(base.stood) == len(set(base.stood)) == 3

    play(test, base=base, terms=ClientTerms(dialect=Dialect.HEAD, attempt_seconds=5.0))


class CrossedBase(PaperBase):
    """A script submits another request at one of our trips. Its peer may answer that at once; and the script may read
    and delete the answer."""

    def __init__(self, at: str, then: str) -> None:
        super().__init__()
        self.at = at
        self.then = then
        self.published: list[str] = []

    async def _trip(self, what: str, *, writes: bool = False) -> None:
        if what.startswith(self.at):
            self.at = "never"
            put_with_copy(self, OTHER)
            if self.then != "stands":
                self.foreign_drop(Tray.REQUESTS, "a")
            if self.then == "is answered":
                self.foreign_put(Tray.RESPONSES, "a", write_response("a", DONE, (Dialect.HEAD,)))
        await super()._trip(what, writes=writes)

    async def publish(
        self, requests: Mapping[str, bytes], first: Collection[str] = (), *, by_turns: bool = False
    ) -> Mapping[str, EntryStuck]:
        stuck = await super().publish(requests, first, by_turns=by_turns)
        self.published += [id for id in requests if id not in stuck]  # noqa: A001
        return stuck


OTHER = request("a", params={"n": 2}, submitter="script")
MADE_WAY = "another request of this id was posted at the same time, and made way for this one."


@pytest.mark.parametrize("then", ["stands", "is answered", "is answered and tidied up"])
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("at", ["publish a", "read submitted a"])
def test_what_was_posted_makes_way_for_another_request_of_its_id_that_a_script_has_submitted(
    at: str, waits: bool, then: str
) -> None:
    """Nobody could tell which of the two an answer is to. What waits in the line is not published meanwhile."""
    base = CrossedBase("never" if waits else at, then)

    async def test(it: Desk) -> None:
        if waits:
            base.at = at
            later = EPOCH + trio.current_time() + 5.0
            handled = await it.submit(request("a", params={"n": 1}, not_before=later))
        else:
            handled = await it.submit(request("a", params={"n": 1}))
        assert handled.ids == ("a",)
        (dossier,) = await it.over("a")
        if dossier.made_way:
            assert (dossier.shown, dossier.begun) == ("cancelled", 0)
            assert "submit it again under another id" in " ".join(dossier.notes)
        await trio.sleep(SETTLED_SECONDS)
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.fingerprint) == (State.SUCCESS, OTHER.fingerprint)
        assert [note for note in dossier.notes if MADE_WAY in note]
        assert (dossier.begun, base.published) == (1, [])
        assert copies(base) == set()

    play(test, base=base, outcomes=in_turn(DONE), dialect=Dialect.HEAD)


def test_what_was_posted_makes_way_for_what_an_old_script_has_dropped_while_it_waited() -> None:
    """That leaves no copy, and stands there until its peer answers."""
    base, runs = PaperBase(), Counter[bytes]()
    began = 0.0

    def answer(id: str) -> Outcome | None:  # noqa: A002
        if trio.current_time() < began + 10.0:
            return None
        runs[base.files[Tray.REQUESTS, id][1]] += 1
        return DONE

    async def test(it: Desk) -> None:
        nonlocal began
        await it.ready()
        began = trio.current_time()
        await it.submit(request("a", params={"n": 1}, not_before=EPOCH + began + 5.0))
        put(base, OTHER)
        await trio.sleep(20.0)
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.fingerprint) == (State.SUCCESS, OTHER.fingerprint)
        assert runs == {write_request(OTHER): 1}

    play(test, base=base, outcomes=answer, dialect=Dialect.HEAD)


def test_what_was_posted_and_stands_there_goes_on_after_a_crash() -> None:
    base, may_end = CrossedBase("never", "stands"), False

    async def test(it: Desk) -> None:
        nonlocal may_end
        await it.submit(request("a"))
        await trio.sleep(SETTLED_SECONDS)
        it.client.kill()
        await trio.sleep(SETTLED_SECONDS)
        may_end = True
        (dossier,) = await it.over("a")
        assert (dossier.state, dossier.notes, base.published) == (State.SUCCESS, (), ["a"])

    play(test, base=base, outcomes=lambda _: DONE if may_end else None, dialect=Dialect.HEAD)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("is_known", [True, False])
def test_a_post_is_refused_where_another_request_of_its_id_stands_that_nobody_knows_yet(
    dialect: Dialect, is_known: bool
) -> None:
    base = PaperBase()
    ours = request("a", params={"n": 1})

    async def test(it: Desk) -> None:
        await it.ready()
        if is_known:
            put(base, OTHER)
            await it.over("a")
            await trio.sleep(SETTLED_SECONDS)
            put(base, OTHER)
        else:
            base.files[Tray.REQUESTS, "a"] = (Identity(1, 1), write_request(OTHER), 0.0)  # the news of it comes late
        handled = await it.submit(ours)
        if is_known:
            assert handled.ids == ("a",)
        else:
            assert handled.ids == ()
            assert handled.refused == {"a": "another request of this id is in the folder already; take another id"}
            assert (await it.submit(OTHER)).ids == ("a",)

    play(test, base=base, outcomes=in_turn(DONE), dialect=dialect)
