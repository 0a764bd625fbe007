"""What must hold under any schedule, of whatever is sent, crashes, is cancelled, killed and stopped.

Tests are sync and call the schedule runner themselves: hypothesis draws the scheduler's seed like everything else.
"""

import random
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
import trio
import trio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.kernel import (
    Actor,
    ActorDown,
    ActorRef,
    AnySpec,
    ChildSpec,
    Key,
    Mailbox,
    MailboxFull,
    NameTaken,
    Overflow,
    Reply,
    Restart,
    SlotState,
    StartFailed,
    Stop,
    Strategy,
    Supervisor,
    TooSlow,
    crowd_spec,
    supervisor_spec,
)
from actors.kernel.mailbox import Envelope
from actors.kernel.testing import House, Puppet, block, crash, finish, held, pause, run_schedule, staged
from tests.plenty import plenty

pytestmark = pytest.mark.slow

SEEDS = st.integers(0, 2**32 - 1)
TENTHS = st.integers(0, 20).map(lambda tenths: tenths / 10)
EVER = 1000.0
"""Long enough for every backoff, grace and pause in these tests."""

# -- no message is lost or handled twice


@dataclass(frozen=True)
class Letter:
    """A message with a number of its own, and what its handler shall do."""

    number: int
    sender: int
    act: str  # plain, crash, slow, answer late
    reply: Reply[int] | None = field(default=None, compare=False)


@dataclass
class Fates:
    taken: Counter[int] = field(default_factory=Counter)
    """Its handler began."""
    done: list[Letter] = field(default_factory=list)
    """Its handler returned."""
    crashed: Counter[int] = field(default_factory=Counter)
    gone: Counter[int] = field(default_factory=Counter)
    """Dropped, refused, withdrawn, or a dead letter."""


class Clerk(Actor[Letter]):
    def __init__(self, fates: Fates) -> None:
        self.fates = fates
        self.open: list[Letter] = []

    async def handle(self, letter: Letter) -> None:
        self.fates.taken[letter.number] += 1
        match letter.act:
            case "crash":
                self.fates.crashed[letter.number] += 1
                raise RuntimeError
            case "slow":
                await trio.sleep(0.3)
            case "later":
                self.open.append(letter)
        if letter.reply is not None and letter.act != "later":
            letter.reply.set(letter.number)
        if letter.act == "plain":
            for other in self.open:
                assert other.reply is not None
                other.reply.set(other.number)
            self.open.clear()
        self.fates.done.append(letter)


SENDINGS = st.lists(
    st.tuples(
        st.sampled_from(["tell", "send", "ask", "urgent", "pause"]),
        st.sampled_from(["plain", "plain", "plain", "crash", "slow", "later"]),
        TENTHS,
    ),
    max_size=12,
)


async def post(
    ref: ActorRef[Letter], fates: Fates, sender: int, sendings: list[tuple[str, str, float]], numbers: Any
) -> None:
    for how, act, seconds in sendings:
        if how == "pause":
            await trio.sleep(seconds)
            continue
        letter = Letter(next(numbers), sender, act if how == "ask" or act != "later" else "plain")
        try:
            match how:
                case "tell":
                    ref.tell(letter)
                case "urgent":
                    ref.urgent(Letter(letter.number, -1, letter.act))
                case "send":
                    with trio.move_on_after(seconds) as scope:
                        await ref.send(letter)
                    if scope.cancelled_caught:
                        fates.gone[letter.number] += 1
                case "ask":
                    await question(ref, fates, letter, seconds)
        except MailboxFull:
            fates.gone[letter.number] += 1
        box = ref._slot.box
        assert box.stale == sum(isinstance(other, Envelope) and not other.wanted for other in box.lane)
        assert len(box.lane) <= box.capacity
        assert not box.senders or box.full()


async def question(ref: ActorRef[Letter], fates: Fates, letter: Letter, seconds: float) -> None:
    def make(reply: Reply[int]) -> Letter:
        return Letter(letter.number, letter.sender, letter.act, reply)

    try:
        with trio.move_on_after(seconds):
            assert await ref.ask(make, timeout=1) == letter.number
            return
    except (TooSlow, ActorDown, RuntimeError):
        pass
    if not fates.taken[letter.number]:
        fates.gone[letter.number] += 1


@settings(deadline=None, max_examples=plenty(20))
@given(
    seed=SEEDS,
    posts=st.lists(SENDINGS, min_size=1, max_size=4),
    capacity=st.integers(1, 6),
    overflow=st.sampled_from(Overflow),
    budget=st.sampled_from([1, 2, 64]),
    restart=st.sampled_from([Restart.PERMANENT, Restart.PERMANENT, Restart.TEMPORARY]),
    kills=st.lists(TENTHS, max_size=2),
    stop_after=TENTHS,
    messages=st.booleans(),
)
def test_no_message_is_lost_or_handled_twice(
    seed: int,
    posts: list[list[tuple[str, str, float]]],
    capacity: int,
    overflow: Overflow,
    budget: int,
    restart: Restart,
    kills: list[float],
    stop_after: float,
    messages: bool,
) -> None:
    fates = Fates()
    numbers = iter(range(1000))

    def dead(ref: ActorRef[Any], message: object, why: str) -> None:
        if isinstance(message, Letter) and why.startswith("the actor is down"):
            fates.gone[message.number] += 1

    async def main() -> None:
        spec = ChildSpec(
            "clerk",
            partial(Clerk, fates),
            restart=restart,
            backoff=(0.2, 0.5, 0.5),
            mailbox=partial(Mailbox, capacity, overflow, budget),
        )
        async with staged(spec, intensity=1000, dead_letter=dead, messages=messages) as house:
            ref = house["clerk"]

            async def kill(seconds: float) -> None:
                await trio.sleep(seconds)
                ref.kill()

            async with trio.open_nursery() as nursery:
                for sender, sendings in enumerate(posts):
                    nursery.start_soon(post, ref, fates, sender, sendings, numbers)
                for seconds in kills:
                    nursery.start_soon(kill, seconds)
                await trio.sleep(stop_after)
                if seed % 2:
                    ref.begin_stop()
            await ref.stop()
            assert (ref.statistics().mailbox.queued, ref._slot.box.stale) == (0, 0)
            for entry in house.trace.of("drop"):
                if entry.detail.reply is None:  # the asker of a question knows, and has counted it
                    fates.gone[entry.detail.number] += 1
            assert house.stage.statistics().handled >= len(fates.done)

    run_schedule(seed, main)
    for number in range(next(numbers)):
        assert fates.taken[number] <= 1, f"{number} was handled twice"
        assert fates.taken[number] + fates.gone[number] == 1, f"{number}: {fates}"
    for sender in range(len(posts)):
        order = [letter.number for letter in fates.done if letter.sender == sender]
        assert order == sorted(order)


@settings(deadline=None, max_examples=plenty(20))
@given(seed=SEEDS, acts=st.lists(st.sampled_from(["plain", "plain", "crash", "slow"]), max_size=40))
def test_with_room_for_all_exactly_the_crashing_messages_are_lost(seed: int, acts: list[str]) -> None:
    fates = Fates()

    async def main() -> None:
        spec = ChildSpec("clerk", partial(Clerk, fates), backoff=(0.2, 0.5, 0.5))
        async with staged(spec, intensity=1000) as house:
            for number, act in enumerate(acts):
                if number % 3:
                    house["clerk"].tell(Letter(number, 0, act))
                else:
                    await house["clerk"].send(Letter(number, 0, act))
            await trio.sleep(EVER)

    run_schedule(seed, main)
    assert [letter.number for letter in fates.done] == [n for n, act in enumerate(acts) if act != "crash"]
    assert sorted(fates.crashed) == [n for n, act in enumerate(acts) if act == "crash"]


@given(
    capacity=st.integers(1, 4),
    overflow=st.sampled_from([Overflow.REFUSE, Overflow.DROP_OLDEST, Overflow.DROP_NEWEST]),
    steps=st.lists(st.sampled_from(["put", "take", "urgent"]), max_size=60),
)
def test_a_mailbox_is_a_bounded_queue(capacity: int, overflow: Overflow, steps: list[str]) -> None:
    box: Mailbox[int] = Mailbox(capacity, overflow)
    dropped, model, lost = list[int](), deque[int](), list[int]()
    box.on_drop = dropped.append
    for number, step in enumerate(steps):
        match step:
            case "put" if len(model) < capacity:
                box.put_nowait(number)
                model.append(number)
            case "put" if overflow is Overflow.REFUSE:
                with pytest.raises(MailboxFull):
                    box.put_nowait(number)
            case "put":
                box.put_nowait(number)
                model.append(number)
                if overflow is Overflow.DROP_OLDEST:
                    lost.append(model.popleft())
                else:
                    lost.append(model.pop())
            case "take" if model:
                assert box.lane.popleft() == model.popleft()
            case "urgent":
                box.put_system(number)
        assert (list(box.lane), dropped) == (list(model), lost)


# -- after any sequence of starts, ends and leases, what lives is what should

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["start", "start", "crash", "kill", "finish", "stop", "lease", "leave", "wait"]),
        st.integers(0, 4),
        st.sampled_from(Restart),
        st.sampled_from(["plain", "fails to start", "slow to start", "slow to stop", "will not stop"]),
    ),
    max_size=25,
)


class Census:
    """A simple model of who should be alive."""

    def __init__(self) -> None:
        self.alive: dict[int, Restart] = {}
        self.stubborn: set[int] = set()  # whose next last words will be cut off: killed, not done
        self.ended = 0

    def end(self, name: int, comes_back: set[Restart]) -> None:
        if name in self.alive and self.alive[name] not in comes_back:
            del self.alive[name]
            self.ended += 1


@settings(deadline=None, max_examples=plenty(35))
@given(seed=SEEDS, steps=STEPS, patience=st.booleans())
def test_what_lives_is_what_should(seed: int, steps: list[tuple[str, int, Restart, str]], patience: bool) -> None:
    async def main() -> None:
        census, watcher, leases = Census(), Puppet("watcher"), dict[int, trio.Event]()
        async with staged(watcher.spec(), supervisor_spec("house", intensity=10_000, max_children=100)) as house:
            async with trio.open_nursery() as nursery:
                for what, name, restart, habit in steps:
                    if patience or what in ("start", "lease", "kill", "finish", "wait"):
                        await trio.sleep(EVER)  # an end that meets another may go either way
                    await step(house, nursery, census, watcher, leases, what, name, restart, habit)
                    if patience:
                        await trio.sleep(EVER)
                        compare(house, census, watcher)
                await trio.sleep(EVER)
                compare(house, census, watcher)
                for leave in leases.values():
                    leave.set()
            await house["house"].stop()
            assert house.stage.statistics().timers.pending == 0
            assert len(house.stage.registry) == 0
            assert not watcher.ref._slot.watching
            assert len(watcher.did("down")) == len(watcher.log.entries) - 1

    run_schedule(seed, main)


async def step(
    house: House,
    nursery: trio.Nursery,
    census: Census,
    watcher: Puppet,
    leases: dict[int, trio.Event],
    what: str,
    name: int,
    restart: Restart,
    habit: str,
) -> None:
    supervisor = house["house"]
    path = f"top/house/{name}"
    ref: ActorRef[Any] | None = next((child for child in supervisor.children() if child.path == path), None)
    puppet = Puppet(name, grace=1.0, backoff=(0.5, 2.0, 0.5))
    puppet.on_start = {"fails to start": [crash()], "slow to start": [pause(1)]}.get(habit, [])
    puppet.on_stop = {"slow to stop": [pause(0.5)], "will not stop": [held(block())]}.get(habit, [])

    def born(child: ActorRef[Any], restart: Restart) -> None:
        census.alive[name] = restart
        (census.stubborn.add if habit == "will not stop" else census.stubborn.discard)(name)
        house.stage.registry.claim(Key[Any](f"name {name}"), child)
        child.monitor(watcher.ref)

    async def lease(left: trio.Event) -> None:
        try:
            async with supervisor.lease(puppet.spec()) as child:
                leases[name] = left
                born(child, Restart.TEMPORARY)
                await left.wait()
        except StartFailed:
            assert habit == "fails to start"

    match what:
        case "start" | "lease" if name in census.alive:
            with pytest.raises(NameTaken):
                await supervisor.start_child(puppet.spec())
        case "start":
            try:
                born(await supervisor.start_child(puppet.spec(restart=restart)), restart)
                leases.pop(name, None)  # of a predecessor that has ended
            except StartFailed:
                assert habit == "fails to start"
        case "lease":
            nursery.start_soon(lease, trio.Event())
            await trio.sleep(2)
        case "leave" if name in leases:
            leases.pop(name).set()
            census.end(name, set())
        case "crash" | "kill" if ref is not None:
            if what == "crash":
                ref.tell(crash())
                census.stubborn.discard(name)
            else:
                ref.kill()
            census.end(name, {Restart.PERMANENT, Restart.TRANSIENT})
        case "finish" if ref is not None:
            ref.tell(finish())
            census.end(name, {Restart.PERMANENT, Restart.TRANSIENT} if name in census.stubborn else {Restart.PERMANENT})
            census.stubborn.discard(name)
            await trio.sleep(EVER)
        case "stop" if ref is not None:
            ref.begin_stop()
            census.end(name, set())


def compare(house: House, census: Census, watcher: Puppet) -> None:
    alive = {f"top/house/{name}" for name in census.alive}
    assert {child.path for child in house["house"].children()} == alive
    assert {child.statistics().state for child in house["house"].children()} <= {SlotState.RUNNING}
    statistics = house.stage.statistics()
    assert (statistics.living, statistics.timers.pending) == (3 + len(alive), 0)
    assert set(house.stage.registry.names()) == {f"name {name}" for name in census.alive}
    assert len(watcher.ref._slot.watching or ()) == len(alive)
    assert len(watcher.did("down")) == census.ended


# -- supervisors of every strategy end in the right state, and within their grace


@settings(deadline=None, max_examples=plenty(35))
@given(
    seed=SEEDS,
    strategy=st.sampled_from(Strategy),
    children=st.lists(
        st.tuples(st.sampled_from(Restart), st.sampled_from(["plain", "slow", "will not stop", "will not wake"])),
        min_size=1,
        max_size=5,
    ),
    ends=st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["crash", "kill", "finish"]), TENTHS), max_size=8),
)
def test_a_supervisor_ends_in_the_right_state_and_in_time(
    seed: int,
    strategy: Strategy,
    children: list[tuple[Restart, str]],
    ends: list[tuple[int, str, float]],
) -> None:
    async def main() -> None:
        puppets = [
            Puppet(number, restart=restart, grace=1.0, backoff=(0.5, 2.0, 0.5))
            for number, (restart, _) in enumerate(children)
        ]
        alive = {number: restart for number, (restart, _) in enumerate(children)}
        async with staged(*[puppet.spec() for puppet in puppets], strategy=strategy, intensity=1000) as house:
            refs: list[ActorRef[Any]] = [*house.root.children()]
            for number, how, seconds in ends:
                if number >= len(children):
                    continue
                if how != "crash":
                    await trio.sleep(EVER)  # an end that meets another may go either way
                await trio.sleep(seconds)
                if how == "kill":
                    refs[number].kill()
                else:
                    refs[number].tell(finish() if how == "finish" else crash())
                follow(alive, strategy, number, how)
                if how != "crash":
                    await trio.sleep(EVER)
            await trio.sleep(EVER)
            assert {n for n, ref in enumerate(refs) if ref.alive} == set(alive)
            for number, ref in enumerate(refs):
                wanted = SlotState.RUNNING if number in alive else SlotState.STOPPED
                assert ref.statistics().state is wanted
            assert house.root.children() == refs
            assert house.stage.statistics().timers.pending == 0
            for puppet, (_, habit) in zip(puppets, children, strict=True):
                if puppet.id in alive:
                    puppet.on_stop = {"slow": [pause(0.5)], "will not stop": [block()]}.get(habit, [])
                    if habit == "will not wake":
                        puppet.ref.tell(held(block()))
            await trio.lowlevel.checkpoint()
            before = trio.current_time()
            assert await house.root.stop() == Stop(house.trace.of("stop", "top")[0].detail.stop.why)
            assert trio.current_time() - before <= len(alive) * 1.0

    run_schedule(seed, main)


def follow(alive: dict[int, Restart], strategy: Strategy, number: int, how: str) -> None:
    """The model: who is alive after this end, once everybody has come back who does."""
    if number not in alive:
        return
    back = {"crash": {Restart.PERMANENT, Restart.TRANSIENT}, "kill": {Restart.PERMANENT, Restart.TRANSIENT}}
    if alive[number] not in back.get(how, {Restart.PERMANENT}):
        del alive[number]
        return
    group = {
        Strategy.ONE_FOR_ONE: [],
        Strategy.ONE_FOR_ALL: list(alive),
        Strategy.REST_FOR_ONE: [other for other in alive if other > number],
    }[strategy]
    for other in group:
        if alive[other] is Restart.TEMPORARY:
            del alive[other]


OVERLAPPING = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from(["crash", "kill", "finish", "stop", "start", "hold"]), st.integers(0, 3)
    ),
    max_size=14,
)
HABITS = st.sampled_from(["plain", "fails to start", "slow to start", "slow to stop", "done at once"])


@settings(deadline=None, max_examples=plenty(20))
@given(
    seed=SEEDS,
    strategy=st.sampled_from(Strategy),
    children=st.lists(st.tuples(st.sampled_from(Restart), HABITS), min_size=1, max_size=5),
    steps=OVERLAPPING,
    budget=st.sampled_from([1, 64]),
    backoff=st.sampled_from([0.0, 0.5]),
)
def test_whoever_ends_while_others_do_comes_back_or_has_ended_for_good(
    seed: int,
    strategy: Strategy,
    children: list[tuple[Restart, str]],
    steps: list[tuple[int, str, int]],
    budget: int,
    backoff: float,
) -> None:
    async def main() -> None:
        puppets = [
            Puppet(number, restart=restart, grace=1.0, backoff=(backoff, 2.0, 0.0))
            for number, (restart, _) in enumerate(children)
        ]
        stopped, finished = set[str](), set[str]()
        root: AnySpec = ChildSpec(
            "top",
            lambda: Supervisor([puppet.spec() for puppet in puppets], strategy, intensity=10_000, max_children=100),
            mailbox=lambda: Mailbox(budget=budget),
        )
        async with staged(root=root) as house, trio.open_nursery() as nursery:
            static = house.root.children()
            for puppet, (_, habit) in zip(puppets, children, strict=True):
                puppet.on_start = {
                    "fails to start": [crash(), crash()],
                    "slow to start": [pause(0.3)] * 3,
                    "done at once": [finish()],
                }.get(habit, [])
                puppet.on_stop = [pause(0.3)] * 3 if habit == "slow to stop" else []

            async def start(number: int) -> None:
                late = Puppet(f"late{number}", grace=1.0, backoff=(backoff, 2.0, 0.0))
                late.on_start = [pause(0.1), crash()] if number % 2 else []
                with suppress(StartFailed, NameTaken):
                    await house.root.start_child(late.spec())

            for number, what, tenths in steps:
                await trio.sleep(tenths / 10)
                some = static + house.root.children()[len(static) :] + static
                ref: ActorRef[Any] = some[number % (len(static) + 1)]
                match what:
                    case "crash":
                        ref.tell(crash())
                    case "kill":
                        ref.kill()
                    case "finish":
                        finished.add(ref.path)
                        ref.tell(finish())
                    case "stop":
                        stopped.add(ref.path)
                        ref.begin_stop()
                    case "start":
                        nursery.start_soon(start, number)
                    case "hold":
                        ref.tell(held(pause(0.4)))
            await trio.sleep(EVER)
            for ref, (restart, habit) in zip(static, children, strict=True):
                state = ref.statistics().state
                assert state in (SlotState.RUNNING, SlotState.STOPPED), ref
                if restart is Restart.PERMANENT and ref.path not in stopped:
                    assert state is SlotState.RUNNING
                if restart is Restart.TRANSIENT and not {ref.path} & (stopped | finished) and habit != "done at once":
                    assert state is SlotState.RUNNING
                if ref.path in stopped:
                    assert state is SlotState.STOPPED
            assert all(child.statistics().state is SlotState.RUNNING for child in house.root.children()[len(static) :])
            assert house.stage.statistics().timers.pending == 0
            assert house.stage.statistics().living == 1 + sum(ref.alive for ref in house.root.children())

    run_schedule(seed, main)


@settings(deadline=None, max_examples=plenty(10))
@given(seed=SEEDS)
def test_leases_under_any_schedule_leave_nothing(seed: int) -> None:
    dice = random.Random(seed)

    async def main() -> None:
        async with staged(crowd_spec("peers")) as house:

            async def one(number: int) -> None:
                puppet = Puppet(number, grace=0.5)
                puppet.on_start = dice.choice([[], [pause(0.2)], [crash()]])
                puppet.on_stop = dice.choice([[], [pause(0.2)], [block()]])
                with trio.move_on_after(dice.randrange(5) / 10):
                    try:
                        async with house["peers"].lease(puppet.spec()) as ref:
                            ref.tell(dice.choice([finish(), crash(), block(), "nothing"]))
                            await trio.sleep(dice.randrange(5) / 10)
                    except (StartFailed, ActorDown):
                        pass

            async with trio.open_nursery() as nursery:
                for number in range(20):
                    nursery.start_soon(one, number)
                if dice.random() < 0.3:
                    await trio.sleep(0.2)
                    house["peers"].begin_stop()
                elif dice.random() < 0.3:
                    await trio.sleep(0.2)
                    house["peers"].kill()
            await trio.sleep(EVER)
            assert house.stage.statistics().timers.pending == 0
            assert house.stage.statistics().living == len(list(house.stage.slots())) - (not house["peers"].alive)

    run_schedule(seed, main)
