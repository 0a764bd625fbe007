"""What sessions cost: a replay's time, a row's size, and how many turns of the scheduler a token takes."""

import gc
import time
import tracemalloc
from functools import partial
from pathlib import Path

import pytest
import trio

from actors.agent.messages import LogEntry, TurnSays
from actors.kernel import ChildSpec
from actors.kernel.testing import run_in_virtual_time
from actors.store import Inline, StateDirectory, Store
from codec.agent.events import FinalMetadata, MessageFinal, Thinking, Token, ToolExecute, UserMessage
from tests.agent.paper_store import Paper, PaperDisk
from tests.agent.session_kit import Pause, Screen, stay, until


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
                    began = time.perf_counter()
                    await here.connect(screen, id, 0)
                    await until(partial(seen_all, screen))
                    times.append(time.perf_counter() - began)
                    await here.drop(screen)
                assert min(times) < 0.3, times
                print(f"replay of 10,000 events: {min(times) * 1000:.0f} ms")

    run_in_virtual_time(test)


class Tapped(Screen):
    """Notes when something is sent."""

    at: float = 0.0

    async def send(self, text: str) -> None:
        await super().send(text)
        self.at = time.perf_counter()


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
                began = time.perf_counter()
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
