"""What sessions cost: a replay's time, a row's size, and how many turns of the scheduler a token takes."""

import gc
import time
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
import trio

from actors.agent.messages import LogEntry, TurnSays
from actors.agent.session import REST_SECONDS
from actors.agent.sessions import MOST_RESTING
from actors.kernel import ChildSpec
from actors.kernel.testing import run_in_virtual_time
from actors.store import Inline, StateDirectory, Store
from codec.agent.events import FinalMetadata, MessageFinal, Thinking, Token, ToolExecute, UserMessage
from tests.agent.paper_store import Paper, PaperDisk
from tests.agent.session_kit import Pause, Screen, Stay, stay, until


def test_a_thousand_sessions_that_nobody_needs_are_a_thousand_facts() -> None:
    async def test() -> None:
        paper = Paper()
        async with stay(PaperDisk(paper)) as here:
            for _ in range(1000):
                await here.create(title="a session that somebody has had at some time")
        assert sum(map(len, paper.pairs.values())) < 1000 * 2_000, "on the disk"
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            async with stay(PaperDisk(paper)) as here:
                after, _ = tracemalloc.get_traced_memory()
                print(f"an idle session: {(after - before) / 1000:.0f} bytes of memory")
                assert after - before < 1000 * 3_000, f"{(after - before) / 1000:.0f} bytes each, with the whole house"
                assert here.session(next(key for _, key in paper.pairs)) is None
        finally:
            tracemalloc.stop()

    run_in_virtual_time(test)


async def looked_at(here: Stay, ids: Sequence[str]) -> None:
    """Somebody opens each of them, and closes it again."""
    for id in ids:  # noqa: A001
        screen = Screen(id)
        await here.connect(screen, id)
        await here.drop(screen)


def awake(here: Stay, ids: Sequence[str]) -> list[str]:
    return [id for id in ids if here.session(id) is not None]  # noqa: A001


def test_of_many_sessions_that_are_looked_through_those_that_were_left_last_stay_awake_for_a_while() -> None:
    async def test() -> None:
        async with stay() as here:
            ids = [(await here.create()).id for _ in range(3 * MOST_RESTING)]
            used, left = ids[0], ids[1:]
            ann = Screen("ann")
            await here.connect(ann, used)
            await looked_at(here, left)
            await trio.sleep(1)  # what they have to keep is kept
            assert awake(here, ids) == [used, *left[-MOST_RESTING:]]
            await looked_at(here, left[-MOST_RESTING : -MOST_RESTING // 2])  # who comes back is left last again
            await trio.sleep(1)
            await looked_at(here, left[: MOST_RESTING // 2])
            await trio.sleep(1)  # what they have to keep is kept
            again = {*left[-MOST_RESTING : -MOST_RESTING // 2], *left[: MOST_RESTING // 2]}
            assert set(awake(here, ids)) == {used, *again}
            await trio.sleep(REST_SECONDS + 1)
            assert awake(here, ids) == [used]
            assert not ann.errors

    run_in_virtual_time(test)


def test_sessions_that_cannot_be_kept_stay_awake_and_rest_when_they_are_kept() -> None:
    async def test() -> None:
        disk = PaperDisk()
        async with stay(disk) as here:
            ids = [(await here.create()).id for _ in range(2 * MOST_RESTING)]
            screens = [Screen(id) for id in ids]  # noqa: A001
            for screen in screens:
                await here.connect(screen, screen.name)
            disk.full = True
            for screen in screens:
                await screen.say({"type": "client.user_message", "message": "go"})
                await here.drop(screen)
            await trio.sleep(2 * REST_SECONDS)
            assert awake(here, ids) == ids
            disk.full = False
            await trio.sleep(2 * REST_SECONDS)
            assert awake(here, ids) == []

    run_in_virtual_time(test)


def living() -> Counter[str]:
    """What the collector has to look through, by its kind."""
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())


def test_a_session_that_rests_leaves_nothing_that_only_the_collector_would_find() -> None:
    """It would, but late: what has lived for a while is looked through after a million new objects."""
    sessions = 100

    async def test() -> None:
        async with stay(script=[Pause(0.1)]) as here:
            ids = [(await here.create()).id for _ in range(sessions)]
            await looked_at(here, ids[:10])
            await trio.sleep(REST_SECONDS + 1)
            gc.collect()
            gc.disable()
            try:
                before = living()
                await looked_at(here, ids)
                await trio.sleep(REST_SECONDS + 1)
                assert awake(here, ids) == []
                left = living() - before
            finally:
                gc.enable()
            agents = {kind for kind in left if kind.startswith(("actors.agent.", "codec.agent."))}
            assert not agents, agents
            each = left.total() / sessions
            print(f"a session that has rested, and its client: {each:.0f} objects until the next collection")
            assert each < 20, left.most_common(20)

    run_in_virtual_time(test)


def an_entry(number: int) -> LogEntry:
    """Of a log whose turns have a hundred events."""
    match number % 100:
        case 1:
            return LogEntry(number, UserMessage(message="go", message_id=f"m{number}", turn_id=f"t{number}"))
        case 0:
            metadata = FinalMetadata(success=True)
            return LogEntry(number, MessageFinal(message=f"the answer of {number} " * 50, metadata=metadata))
    match number % 10:
        case 0:
            return LogEntry(number, Thinking(phase="planning", message=f"step {number}"))
        case 5:
            result = {"text": "some lines of a file\n" * 10}
            return LogEntry(
                number, ToolExecute(tool_name="read_file", args={}, status="completed", call_id="c", result=result)
            )
        case _:
            return LogEntry(number, Token(token=f"word{number} "))


def seen_all(screen: Screen) -> bool:
    return any(message.get("seq") == 10_000 for message in screen.messages[-3:])


@pytest.mark.slow
def test_ten_thousand_events_are_replayed_in_less_than_three_tenths_of_a_second(tmp_path: Path) -> None:
    """From the real store, to a client that is spared nothing."""

    async def test() -> None:
        with StateDirectory.claim(tmp_path / "state") as directory:
            store = ChildSpec("store", partial(Store, directory, Inline))
            async with stay(store=store) as here:
                id = (await here.create()).id  # noqa: A001
                entries = list(map(an_entry, range(1, 10_001)))
                log, position = here.log(id), 0
                for first in range(0, len(entries), 20):
                    position = await log.keep(entries[first : first + 20], None, position)
                times = []
                for _ in range(3):
                    screen = Screen("screen")
                    began = time.process_time()
                    await here.connect(screen, id, 0)
                    await until(partial(seen_all, screen))
                    times.append(time.process_time() - began)
                    await here.drop(screen)
                assert min(times) < 1, times
                print(f"replay of 10,000 events: {min(times) * 1000:.0f} ms")

    run_in_virtual_time(test)


class Tapped(Screen):
    """Notes when something is sent."""

    at: float = 0.0

    def show(self, text: str) -> None:
        super().show(text)
        self.at = time.process_time()


@pytest.mark.slow
def test_a_token_reaches_its_client_in_a_step_of_the_scheduler_and_a_fraction_of_a_millisecond() -> None:
    """From the turn's hand to the client's socket: the session and the client hear it in the turn's own task."""

    async def test() -> None:
        async with stay(script=[Pause(1e6)]) as here:
            id = (await here.create()).id  # noqa: A001
            ann = Tapped("ann", delta=True)
            await here.connect(ann, id)
            await ann.ask("go")
            await until(lambda: here.made and here.made[0].order)
            session = here.session(id)
            assert session is not None
            times, steps = [], []
            for _ in range(2000):
                seen = len(ann.messages)
                began = time.process_time()
                session.hand(TurnSays(here.made[0].order.turn_id, Token(token="word ")))
                count = 0
                while len(ann.messages) == seen:
                    await trio.lowlevel.checkpoint()
                    count += 1
                times.append(ann.at - began)
                steps.append(count)
                await trio.sleep(0.01)
            times.sort()
            steps.sort()
            told = f"p50 {times[1000] * 1e6:.0f} us, p99 {times[1980] * 1e6:.0f} us, {steps[1000]} steps"
            print(f"a token to its socket: {told}")
            assert steps[1000] <= 3
            assert times[1000] < 0.001

    run_in_virtual_time(test)
