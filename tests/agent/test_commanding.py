"""A command of a turn: its actor outlives the turn for as long as anything of the command is left, and no longer."""

import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.agent.command_pieces import CommandPieces
from actors.agent.commanding import COMMANDS, PIECE_SECONDS, commands_ended, commands_specs, run_command
from actors.agent.given import CommandOrder, CommandOutcome, Commands, Stopping
from actors.kernel import Actor, ActorRef, AnyRef, ChildSpec, NobodyThere, Restart
from actors.kernel.testing import House, run_in_virtual_time, staged
from codec.agent.action_events import StreamName
from tests.transports.process.cornered import CORNERED
from tests.transports.process.house import PATIENCE, PYTHON, open_launcher
from transports.agent.commands import ShellCommands

ORDER = CommandOrder("make", "/w")
DONE = CommandOutcome("exited", 0, "", 1.0, "", "")
STOPPED = CommandOutcome("stopped", None, "It was stopped.", 1.0, "", "")


class PaperCommands:
    """Commands that are never there: each says what it is told to, and takes its time to end."""

    def __init__(self, *, takes: float = 1.0, ends_after: float = math.inf) -> None:
        self.takes = takes
        self.ends_after = ends_after
        self.says: Callable[[Callable[[StreamName, str], None]], Any] | None = None
        self.running = self.begun = 0
        self.error: Exception | None = None

    async def run(self, order: CommandOrder, said: Callable[[StreamName, str], None], stop: Stopping) -> CommandOutcome:
        self.begun += 1
        self.running += 1
        try:
            if self.error is not None:
                raise self.error
            if self.says is not None:
                await self.says(said)
            with trio.move_on_after(self.ends_after):
                await stop.wait()
                await trio.sleep(self.takes)
                return STOPPED
            return DONE
        finally:
            self.running -= 1

    def environment(self, order: CommandOrder) -> Mapping[str, str]:
        return {}

    async def confines(self) -> bool:
        return True


class RunningTurn(Actor[str]):
    """Runs its commands in a task beside it, as a turn does."""

    def __init__(self, commands: Commands, order: CommandOrder, ids: list[str], said: Any) -> None:
        self._commands = commands
        self._order = order
        self._ids = ids
        self._said = said
        self.outcomes: dict[str, CommandOutcome] = {}

    async def started(self, kept: object | None) -> None:
        for id in self._ids:  # noqa: A001
            self.run_beside(self._run, id)

    async def _run(self, id: str) -> None:  # noqa: A002
        self.outcomes[id] = await run_command(
            self.stage.registry, self.ref, id, self._order, self._said, commands=self._commands
        )


async def unheard(stream: StreamName, text: str) -> None:
    await trio.lowlevel.checkpoint()


class Stand:
    def __init__(self, house: House, turn: RunningTurn, ref: ActorRef[str]) -> None:
        self.house = house
        self.turn = turn
        self.ref = ref

    def commands(self) -> list[AnyRef]:
        return self.house["commands"].children()

    async def ended(self, turn_id: str = "t") -> float:
        began = trio.current_time()
        await commands_ended(self.house.stage.registry, turn_id)
        return trio.current_time() - began


@asynccontextmanager
async def stand(
    commands: Commands, *ids: str, said: Any = unheard, order: CommandOrder = ORDER
) -> AsyncIterator[Stand]:
    async with staged(*commands_specs()) as house:
        turn = RunningTurn(commands, order, list(ids), said)
        spec: ChildSpec[str] = ChildSpec("t", lambda: turn, restart=Restart.TEMPORARY)
        ref: ActorRef[str] = await house.root.start_child(spec)
        yield Stand(house, turn, ref)


async def test_its_outcome_is_the_turns(autojump_clock: MockClock) -> None:
    async with stand(PaperCommands(ends_after=3.0), "t-c1") as it:
        await wait_all_tasks_blocked()
        (command,) = it.commands()
        await command.wait_stopped()
        await wait_all_tasks_blocked()
        assert it.turn.outcomes == {"t-c1": DONE}
        assert trio.current_time() == 3.0
        assert it.commands() == []


async def test_when_its_turn_is_stopped_it_ends_after_the_last_of_it(autojump_clock: MockClock) -> None:
    commands = PaperCommands(takes=2.5)
    async with stand(commands, "t-c1", "t-c2", "u-c1", "t2-c1") as it:
        await wait_all_tasks_blocked()
        assert len(it.commands()) == 4
        await it.ref.stop()
        assert commands.running == 4
        assert await it.ended() == 2.5
        assert commands.running == 0
        assert await it.ended() == 0


async def test_when_its_turn_is_killed_it_ends_as_well(autojump_clock: MockClock) -> None:
    commands = PaperCommands(takes=2.5)
    async with stand(commands, "t-c1") as it:
        await wait_all_tasks_blocked()
        it.ref.kill()
        await it.ref.wait_stopped()
        assert await it.ended() == 2.5
        assert commands.running == 0


async def test_those_of_other_turns_go_on(autojump_clock: MockClock) -> None:
    commands = PaperCommands()
    async with stand(commands, "t-c1", "t2-c1", "tt-c1") as it:
        await wait_all_tasks_blocked()
        assert await it.ended("t") == 1.0
        assert {each.path.rpartition("/")[2] for each in it.commands()} == {"t2-c1", "tt-c1"}
        assert commands.running == 2


async def test_a_turn_without_commands_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with staged(*commands_specs()) as house:
        await commands_ended(house.stage.registry, "t")
    async with staged() as house:
        await commands_ended(house.stage.registry, "t")
    assert trio.current_time() == 0


async def test_whoever_stops_it_is_answered_when_nothing_is_left(autojump_clock: MockClock) -> None:
    commands = PaperCommands(takes=2.5)
    async with stand(commands, "t-c1") as it:
        await wait_all_tasks_blocked()
        await it.commands()[0].stop()
        assert (commands.running, trio.current_time()) == (0, 2.5)
        await wait_all_tasks_blocked()
        assert it.turn.outcomes == {"t-c1": STOPPED}


async def test_when_the_tree_ends_it_ends_first(autojump_clock: MockClock) -> None:
    commands = PaperCommands(takes=2.5)
    async with stand(commands, "t-c1"):
        await wait_all_tasks_blocked()
    assert (commands.running, trio.current_time()) == (0, 2.5)


async def test_a_command_that_never_ends_holds_the_tree_up_for_its_grace_only(autojump_clock: MockClock) -> None:
    commands = PaperCommands(takes=1000.0)
    async with stand(commands, "t-c1"):
        await wait_all_tasks_blocked()
    assert (commands.running, trio.current_time()) == (0, 30.0)


async def test_a_failure_of_ours_is_told_as_an_interruption(autojump_clock: MockClock) -> None:
    commands = PaperCommands()
    commands.error = ValueError("not what anybody wanted")
    async with stand(commands, "t-c1") as it:
        await wait_all_tasks_blocked()
        assert it.turn.outcomes["t-c1"].ended == "interrupted"
        assert it.turn.outcomes["t-c1"].why == "It was interrupted by a failure of the server."


async def test_where_no_commands_can_be_run_that_is_the_outcome(autojump_clock: MockClock) -> None:
    async with staged() as house:
        turn: ActorRef[str] = house.root
        registry = house.stage.registry
        outcome = await run_command(registry, turn, "t-c1", ORDER, unheard, commands=PaperCommands())
    assert outcome.ended == "not_started"
    assert outcome.why == f"It could not be started: {NobodyThere.told}."


async def test_one_id_is_one_command(autojump_clock: MockClock) -> None:
    commands = PaperCommands(ends_after=1.0)
    async with stand(commands, "t-c1", "t-c1") as it:
        await wait_all_tasks_blocked()
        assert commands.begun == 1
        assert it.turn.outcomes["t-c1"].ended == "not_started"


@pytest.mark.parametrize("seed", range(20))
def test_the_wait_may_be_given_up_at_any_await_and_nothing_of_it_is_left(seed: int) -> None:
    """Also while the actor is being started."""

    async def check() -> None:
        commands = PaperCommands(takes=0.5)

        async def says(said: Callable[[StreamName, str], None]) -> None:
            for number in range(5):
                said("stdout", f"{number}")
                await trio.sleep(0.01)

        commands.says = says
        async with staged(*commands_specs()) as house:
            for steps in range(30):
                turn: ActorRef[str] = house.root
                with trio.CancelScope() as scope:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(_cancel_after, scope, steps)
                        await run_command(house.stage.registry, turn, f"t-c{steps}", ORDER, unheard, commands=commands)
                await commands_ended(house.stage.registry, "t")
                assert commands.running == 0
                assert house["commands"].children() == []

    async def _cancel_after(scope: trio.CancelScope, steps: int) -> None:
        for _ in range(steps):
            await trio.lowlevel.checkpoint()
        if chance.random() < 0.5:
            await trio.sleep(chance.uniform(0.0, 0.1))
        scope.cancel()

    chance = Random(seed)
    run_in_virtual_time(check)


# -- its output


async def test_its_output_comes_in_pieces_at_most_twenty_a_second(autojump_clock: MockClock) -> None:
    told: list[tuple[float, StreamName, str]] = []

    async def said(stream: StreamName, text: str) -> None:
        told.append((trio.current_time(), stream, text))

    async def says(heard: Callable[[StreamName, str], None]) -> None:
        for number in range(2000):
            heard("stdout" if number % 3 else "stderr", f"{number}\n")
            await trio.sleep(0.001)

    commands = PaperCommands(ends_after=0.0)
    commands.says = says
    async with stand(commands, "t-c1", said=said) as it:
        await wait_all_tasks_blocked()
        (command,) = it.commands()
        await command.wait_stopped()
        await wait_all_tasks_blocked()
    assert told[0][0] == 0
    assert len(told) <= 2.0 / PIECE_SECONDS + 3  # the first comes at once, and the last of each stream at the end
    for stream, rest in ("stdout", (1, 2)), ("stderr", (0,)):
        texts = "".join(text for _, which, text in told if which == stream)
        assert texts == "".join(f"{number}\n" for number in range(2000) if number % 3 in rest)


async def test_a_session_that_hears_nothing_holds_no_command_up(autojump_clock: MockClock) -> None:
    async def said(stream: StreamName, text: str) -> None:
        await trio.sleep_forever()

    async def says(heard: Callable[[StreamName, str], None]) -> None:
        for _ in range(100):
            heard("stdout", "x" * 10_000)
            await trio.sleep(0.01)

    commands = PaperCommands(ends_after=0.0)
    commands.says = says
    async with stand(commands, "t-c1", said=said) as it:
        await wait_all_tasks_blocked()
        (command,) = it.commands()
        await command.wait_stopped()
        assert trio.current_time() < 2.0
        assert it.turn.outcomes == {}


STREAMS: tuple[StreamName, StreamName] = ("stdout", "stderr")

texts = st.lists(st.tuples(st.sampled_from(STREAMS), st.text(max_size=30)), max_size=40)


@pytest.mark.slow
@given(texts, st.integers(0, 200), st.integers(1, 20), st.integers(1, 7))
@example([("stdout", "hello"), ("stderr", "x")], 0, 3, 1)
def test_what_is_told_is_a_beginning_an_end_and_the_number_of_characters_between(
    writes: list[tuple[StreamName, str]], most: int, last: int, every: int
) -> None:
    pieces, told = CommandPieces(most, last), list[tuple[StreamName, str]]()
    for number, (stream, text) in enumerate(writes):
        pieces.take(stream, text)
        if number % every == 0:
            now = pieces.pending()
            assert len({stream for stream, _ in now}) == len(now)
            told += now
    told += pieces.pending()
    assert not pieces.waiting
    live = {name: "".join(text for stream, text in told if stream == name) for name in STREAMS}
    whole = {name: "".join(text for stream, text in writes if stream == name) for name in STREAMS}
    assert sum(map(len, live.values())) == min(most, sum(map(len, whole.values())))
    rest = dict(pieces.rest())
    for name in STREAMS:
        assert whole[name].startswith(live[name])
        untold = whole[name][len(live[name]) :]
        missing = len(untold) - last
        gap = f"\n[... {missing:,} characters left out ...]\n" if missing > 0 else ""
        assert rest.get(name, "") == gap + untold[-last:]
    assert pieces.rest() == []


# -- the whole of it


@pytest.mark.slow
async def test_a_cancelled_turn_leaves_nothing_of_a_command_that_does_not_want_to_end(tmp_path: Path) -> None:
    chance = Random(3)
    async with open_launcher(tmp_path) as processes:
        commands = ShellCommands(processes.runner)
        order = CommandOrder((*PYTHON, CORNERED), str(tmp_path), environment={"MARK": processes.mark})
        async with staged(*commands_specs()) as house:
            for number in range(10):
                make = partial(RunningTurn, commands, order, [f"t{number}-c1"], unheard)
                turn: ChildSpec[str] = ChildSpec(f"t{number}", make, restart=Restart.TEMPORARY)
                ref: ActorRef[str] = await house.root.start_child(turn)
                await trio.sleep(chance.uniform(0.0, 0.12))
                with trio.fail_after(PATIENCE):
                    await ref.stop()
                    await commands_ended(house.stage.registry, f"t{number}")
                assert processes.left() == []
                assert house.stage.registry.get(COMMANDS).children() == []
