"""A model that nobody listens to any more is told so at once: its connection is closed, and not a byte more is read.

Every test here is over real sockets, and the fake notes when it sees the end. A warning is an error: a generator of
httpx's that is left in the middle would be one.
"""

import gc
import random

import pytest
import trio
import trio.lowlevel

from codec.agent.models import ModelTrouble, Provider, SaidText
from tests.agent.fakes import Done, Forever, Hang, Pause, Raw, Say, Tell
from tests.patience import PATIENCE
from tests.transports.agent.asked import FAMILIES, Stand, no_builtin, request, stand
from transports.agent.providers import Families

both = pytest.mark.parametrize("provider", FAMILIES)
SOON = 0.05


async def seen(here: Stand, since: float) -> float:
    """How long after that the fake saw the end of its last visit."""
    with trio.fail_after(PATIENCE):
        await here.fake.visits[-1].gone.wait()
    return here.fake.visits[-1].gone_at - since


async def cancelled_after(here: Stand, moment: trio.Event) -> float:
    """Reads until it is cancelled, at this moment; gives how long it then took the fake to see it."""
    async with trio.open_nursery() as nursery:

        async def read() -> None:
            async with here.families.stream(here.request) as deltas:
                async for _ in deltas:
                    pass

        nursery.start_soon(read)
        with trio.fail_after(PATIENCE):
            await moment.wait()
        cancelled = trio.current_time()
        nursery.cancel_scope.cancel()
    return await seen(here, cancelled)


@both
@pytest.mark.parametrize("early_head", [False, True])
async def test_a_cancel_before_the_first_byte_is_seen_at_once(provider: Provider, early_head: bool) -> None:
    delays = []
    for _ in range(3):
        asked = trio.Event()
        async with stand(provider, [Tell(asked), Hang()], early_head=early_head) as here:
            delays.append(await cancelled_after(here, asked))
    assert min(delays) < SOON
    gc.collect()


@both
async def test_a_cancel_in_the_middle_of_a_token_is_seen_at_once(provider: Provider) -> None:
    half = b'{"message":{"content":"ab' if provider == "ollama" else b'data: {"choices":[{"delta":{"con'
    delays = []
    for _ in range(3):
        sent = trio.Event()
        async with stand(provider, [Say("a"), Raw(half), Tell(sent), Hang()]) as here:
            delays.append(await cancelled_after(here, sent))
    assert min(delays) < SOON
    gc.collect()


@pytest.mark.slow
@both
async def test_a_cancel_at_any_moment_is_seen_at_once(provider: Provider) -> None:
    drawn = random.Random(provider)
    delays = []
    steps = [step for number in range(200) for step in (Pause(0.0005), Say(f"token {number} "))]
    async with stand(provider, lambda _: steps, cut=7) as here:
        for _ in range(25):
            moment = trio.Event()
            async with trio.open_nursery() as nursery:

                async def ring(moment: trio.Event = moment) -> None:
                    await trio.sleep(drawn.random() * 0.1)
                    while not here.fake.visits or here.fake.visits[-1].gone.is_set():  # noqa: ASYNC110
                        await trio.sleep(0.001)
                    moment.set()

                nursery.start_soon(ring)
                delays.append(await cancelled_after(here, moment))
    assert sorted(delays)[len(delays) // 2] < SOON
    gc.collect()


@pytest.mark.slow
@both
async def test_leaving_the_block_is_seen_at_once_and_nothing_is_drained(provider: Provider) -> None:
    delays = []
    for _ in range(3):
        async with stand(provider, [Forever("x" * 500)]) as here:
            async with here.families.stream(here.request) as deltas:
                assert await anext(deltas) == SaidText("x" * 500)
                with trio.fail_after(PATIENCE):
                    while here.fake.visits[0].sent < 1_000_000 and not await stuck(here):
                        await anext(deltas)
                sent, left = here.fake.visits[0].sent, trio.current_time()
            delays.append(await seen(here, left))
            assert here.fake.visits[0].sent - sent < 2_000_000  # what its own socket still takes
    assert min(delays) < SOON
    gc.collect()


async def stuck(here: Stand) -> bool:
    before = here.fake.visits[0].sent
    await trio.lowlevel.checkpoint()
    return here.fake.visits[0].sent == before and before > 500_000


@both
async def test_a_block_that_fails_closes_too_and_its_error_comes_through(provider: Provider) -> None:
    async with stand(provider, [Say("a"), Hang()]) as here:
        with pytest.raises(ZeroDivisionError):
            async with here.families.stream(here.request) as deltas:
                assert await anext(deltas) == SaidText(str(1 / 0))
        with trio.fail_after(PATIENCE):
            await here.fake.visits[0].gone.wait()
    gc.collect()


@both
async def test_an_answer_that_was_taken_to_its_end_leaves_no_connection(provider: Provider) -> None:
    async with stand(provider, [Say("a"), Done()]) as here:
        for _ in range(3):
            await here.answer()
        with trio.fail_after(PATIENCE):
            for visit in here.fake.visits:
                await visit.gone.wait()
        assert len(here.fake.visits) == 3
    gc.collect()


async def test_a_question_that_is_never_read_can_be_given_up() -> None:
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        ended = trio.Event()

        async def deaf(stream: trio.SocketStream) -> None:
            async with stream:
                try:
                    await ended.wait()
                    while await stream.receive_some(1_000_000):
                        pass
                except trio.BrokenResourceError:
                    return

        nursery.start_soon(trio.serve_listeners, deaf, [listener])
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        with trio.move_on_after(0.1) as scope:
            async with Families([], no_builtin).stream(request("ollama", url, says="x" * 30_000_000)):
                pass
        assert scope.cancelled_caught
        ended.set()
        nursery.cancel_scope.cancel()
    gc.collect()


async def test_a_connection_that_is_never_taken_can_be_given_up() -> None:
    with trio.socket.socket() as full:
        await full.bind(("127.0.0.1", 0))
        full.listen(0)
        others = [trio.socket.socket() for _ in range(4)]
        async with trio.open_nursery() as nursery:
            for other in others:
                nursery.start_soon(other.connect, full.getsockname())
            await trio.testing.wait_all_tasks_blocked()
            with trio.move_on_after(0.05) as scope:
                async with Families([], no_builtin).stream(
                    request("ollama", f"http://127.0.0.1:{full.getsockname()[1]}")
                ):
                    pass
            nursery.cancel_scope.cancel()
        for other in others:
            other.close()
    assert scope.cancelled_caught


@both
async def test_two_at_once_are_given_up_apart(provider: Provider) -> None:
    async with stand(provider, [Say("a"), Hang()]) as here, here.families.stream(here.request) as kept:
        assert await anext(kept) == SaidText("a")
        async with here.families.stream(here.request) as left:
            assert await anext(left) == SaidText("a")
        with trio.fail_after(PATIENCE):
            await here.fake.visits[1].gone.wait()
        assert not here.fake.visits[0].gone.is_set()


async def test_a_list_that_is_given_up_leaves_no_connection() -> None:
    async with stand("vllm", [Hang()]) as here:
        with trio.CancelScope() as scope:
            scope.cancel()
            await here.families.listed()
        with pytest.raises(ModelTrouble, match="has no model"):
            await here.families.check(request("vllm", here.fake.url, model="none"))
        with trio.fail_after(PATIENCE):
            for visit in here.fake.visits:
                await visit.gone.wait()
