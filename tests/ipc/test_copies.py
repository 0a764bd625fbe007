"""A copy that a script has left is deleted when the journal has its request, and not before, whatever else there is."""

import pytest
import trio

from actors.ipc.client_steps import State
from actors.ipc.given import Tray
from actors.ipc.pinging import PING
from codec.ipc import Dialect, Failure, Request, write_request, write_response
from tests.ipc.client_kit import BUSY, DONE, NEVER, Desk, in_turn, play, put, put_with_copy, request
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
