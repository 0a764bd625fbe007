"""The account of one run, from figures that no process has to produce: each limit may be reached and not exceeded, what
is memory is counted once, and who waits for a processor is not late for it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from transports.process.launcher import account, census
from transports.process.launcher.account import MOST_DELAY, MOST_THREADS, Account
from transports.process.launcher.census import PAGE_BYTES, TICKS_PER_SECOND, ProcessSeen
from transports.process.launcher.orders import CPU, FILES, HIDDEN, MEMORY, PROCESSES, WALL, Order

BEGAN = 1000.0
LEADER = 100
MUCH = 1 << 40
"""More than any process of tests has had itself."""


@dataclass(frozen=True)
class Figures:
    """What /proc says of a process."""

    pid: int = LEADER
    state: str = "S"
    seconds: float = 0.0
    resident_pages: int = 0
    peak_bytes: int = 0
    anonymous_bytes: int = 0
    shares: tuple[int, int] = (0, 0)
    """Its part of what it shares, as it is read the first time and the second."""
    anonymous_shares: tuple[int, int] = (0, 0)
    delay: float = 0.0
    threads: tuple[tuple[bytes, bool, float], ...] = ()
    """The others than the first."""

    def seen(self) -> ProcessSeen:
        ticks = round(self.seconds * TICKS_PER_SECOND)
        stat = f"{self.pid} (x) {self.state} 1 {LEADER} 3 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 {1 + len(self.threads)} 0 9"
        return ProcessSeen(self.pid, f"{stat} 1000 {self.resident_pages} 0 0".encode())


class InFiles:
    """What the processes hold besides their own pages."""

    def __init__(self) -> None:
        self.memory_bytes = self.disk_bytes = 0
        self.hidden = False

    def look(self, members: object, reaped_bytes: int) -> None:
        pass


@dataclass
class World:
    now: float = BEGAN
    processes: list[Figures] = field(default_factory=list)
    in_files: InFiles = field(default_factory=InFiles)

    def family(self, roots: object, most: int | None = None) -> list[ProcessSeen]:
        return [each.seen() for each in self.processes[:most]]

    def of(self, place: object) -> Figures:
        return next(each for each in self.processes if str(each.pid) == str(place))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    readings: dict[tuple[str, object], int] = {}

    def in_turn(name: str, of: Callable[[Figures], tuple[int, int]]) -> Callable[[object], int]:
        def read(place: object) -> int:
            turn = readings[name, place] = readings.get((name, place), -1) + 1
            return of(world.of(place))[turn % 2]

        return read

    monkeypatch.setattr(census, "family", world.family)
    monkeypatch.setattr(census, "peak_bytes", lambda place: world.of(place).peak_bytes)
    monkeypatch.setattr(census, "own_bytes", lambda place: world.of(place).anonymous_bytes)
    monkeypatch.setattr(census, "shared_out_bytes", in_turn("shares", lambda figures: figures.shares))
    monkeypatch.setattr(census, "own_shared_out_bytes", in_turn("anonymous", lambda figures: figures.anonymous_shares))
    monkeypatch.setattr(census, "delay_seconds", lambda pid: world.of(pid).delay)
    monkeypatch.setattr(census, "other_threads", lambda pid, most: list(world.of(pid).threads)[: most if most else 0])
    monkeypatch.setattr(account, "Holdings", lambda leader: world.in_files)
    monkeypatch.setattr(account, "time", SimpleNamespace(monotonic=lambda: world.now))
    return world


def run_of(**limits: Any) -> Account:
    return Account(Order([b"x"], [], b"/", **limits), LEADER, BEGAN, None, lambda: [LEADER])


# -- limits


def busy(world: World, seconds: float) -> None:
    world.processes = [Figures(seconds=seconds)]


def large(world: World, size: float) -> None:
    world.processes = [Figures(peak_bytes=int(size))]


def many(world: World, number: float) -> None:
    world.processes = [Figures(pid=LEADER + each) for each in range(int(number))]


def full(world: World, size: float) -> None:
    world.processes = [Figures()]
    world.in_files.disk_bytes = int(size)


def late(world: World, seconds: float) -> None:
    world.processes = [Figures()]
    world.now = BEGAN + seconds


USES: list[tuple[str, float, Callable[[World, float], None], float, float, str]] = [
    ("cpu_seconds", 3.0, busy, 3.0, 3.0 + 1 / TICKS_PER_SECOND, CPU),
    ("memory_bytes", MUCH, large, MUCH, MUCH + 1, MEMORY),
    ("processes", 1, many, 1, 2, PROCESSES),
    ("processes", 3, many, 3, 4, PROCESSES),
    ("file_bytes", 4096, full, 4096, 4097, FILES),
    ("wall_seconds", 5.0, late, 4.999, 5.0, WALL),
]
"""A limit, how it is used up, how much may be used, how much may not, and the reason for which the run is stopped."""


@pytest.mark.parametrize(("name", "limit", "use", "most", "above", "excess"), USES)
def test_a_limit_may_be_reached_and_not_exceeded_and_only_where_there_is_one(
    world: World, name: str, limit: float, use: Callable[[World, float], None], most: float, above: float, excess: str
) -> None:
    use(world, most)
    assert run_of(**{name: limit}).look() == ""
    use(world, above)
    assert run_of(**{name: limit}).look() == excess
    assert run_of().look() == ""


@pytest.mark.parametrize("may_hide", [False, True])
@pytest.mark.parametrize(
    ("limit", "matters"),
    [("memory_bytes", True), ("file_bytes", True), ("cpu_seconds", False), ("wall_seconds", False)],
)
def test_who_hides_what_he_holds_is_stopped_if_that_is_limited(
    world: World, limit: str, matters: bool, may_hide: bool
) -> None:
    world.processes = [Figures()]
    world.in_files.hidden = True
    run = run_of(**{limit: MUCH}, may_hide=may_hide)
    assert run.look() == (HIDDEN if matters and not may_hide else "")


@pytest.mark.parametrize(
    ("limit", "again"),
    [
        ("cpu_seconds", True),
        ("memory_bytes", True),
        ("processes", True),
        ("file_bytes", True),
        ("wall_seconds", False),
    ],
)
def test_a_run_is_looked_at_again_and_again_if_anything_but_its_time_is_limited(limit: str, again: bool) -> None:
    assert run_of(**{limit: 7}).limited is again
    assert not run_of().limited


# -- memory

ONE, OTHER = Figures(), Figures(pid=LEADER + 1)
PAGES = MUCH // PAGE_BYTES


@pytest.mark.parametrize(
    ("processes", "in_files", "peak"),
    [
        ([replace(ONE, resident_pages=PAGES)], 0, MUCH),
        ([replace(ONE, resident_pages=PAGES, peak_bytes=MUCH + 7)], 0, MUCH + 7),
        ([replace(ONE, peak_bytes=7), replace(OTHER, resident_pages=PAGES, peak_bytes=MUCH + 8)], 0, MUCH + 8),
        (  # more together than the largest alone: what they share counts once, and the smaller of two readings
            [
                replace(ONE, resident_pages=PAGES, shares=(MUCH, MUCH - 5)),
                replace(OTHER, resident_pages=PAGES, shares=(70, 90)),
            ],
            0,
            MUCH + 70,
        ),
        (
            [
                replace(ONE, resident_pages=PAGES, shares=(MUCH, MUCH)),
                replace(OTHER, resident_pages=PAGES, shares=(90, 70)),
            ],
            0,
            MUCH + 70,
        ),
        ([replace(ONE, resident_pages=1, anonymous_bytes=MUCH)], 0, PAGE_BYTES),
        ([replace(ONE, resident_pages=1, anonymous_bytes=MUCH, anonymous_shares=(3, 3))], 50, MUCH + 50),
        (
            [
                replace(ONE, anonymous_bytes=3, anonymous_shares=(MUCH, MUCH)),
                replace(OTHER, anonymous_bytes=3, anonymous_shares=(60, 40)),
            ],
            50,
            MUCH + 90,
        ),
    ],
)
def test_memory_is_the_largest_of_what_was_seen_at_once(
    world: World, processes: list[Figures], in_files: int, peak: int
) -> None:
    run = run_of()
    world.processes, world.in_files.memory_bytes = processes, in_files
    run.look()
    assert run.peak_bytes == peak
    world.processes, world.in_files.memory_bytes = [replace(ONE, resident_pages=1)], 0
    run.look()
    world.processes = []
    run.look()
    assert run.peak_bytes == peak  # what it uses now does not matter


def test_a_run_of_which_nothing_was_seen_may_have_been_as_large_as_we_are(world: World) -> None:
    run = run_of()
    before = run.peak_bytes
    world.processes = []
    run.look()
    assert run.peak_bytes == before > 1 << 20


# -- time


@dataclass(frozen=True)
class Look:
    """One second after the last."""

    waits: bool = False
    cpu: float = 0.0
    """So far."""
    delay: float = 0.0
    thread_waits: bool = False
    thread_delay: float = 0.0
    threaded: bool = True


@pytest.mark.parametrize(
    ("looks", "waited"),
    [
        ([Look(), Look()], 0.0),  # it sleeps
        ([Look(waits=True)], 1.0),
        ([Look(waits=True), Look()], 2.0),  # ready at the first of the two, or at the second
        ([Look(), Look(waits=True)], 1.0),
        ([Look(), Look(waits=True), Look()], 2.0),
        ([Look(), Look(waits=True), Look(), Look()], 2.0),
        ([Look(waits=True, cpu=0.25)], 0.75),
        ([Look(waits=True, cpu=0.25), Look(waits=True, cpu=0.5)], 1.5),
        ([Look(waits=True, cpu=1.5)], 0.0),  # two processors: it has had more than there was
        ([Look(waits=True, cpu=1.5), Look(waits=True, cpu=1.5)], 1.0),
        ([Look(delay=0.5)], 0.5),  # what the kernel says counts, if it is more
        ([Look(delay=0.5), Look(delay=0.75)], 0.75),
        ([Look(waits=True, delay=0.5)], 1.0),
        ([Look(waits=True, delay=3.0)], 3.0),
        ([Look(thread_waits=True)], 1.0),
        ([Look(thread_delay=0.5, delay=0.25)], 0.75),
        ([Look(thread_waits=True, thread_delay=3.0, threaded=False)], 0.0),
    ],
)
def test_who_waits_for_a_processor_has_so_much_longer(world: World, looks: list[Look], waited: float) -> None:
    run = run_of(wall_seconds=100.0)
    for number, each in enumerate(looks, 1):
        world.now = BEGAN + number
        threads = ((b"101", each.thread_waits, each.thread_delay),) if each.threaded else ()
        state = "R" if each.waits else "S"
        world.processes = [Figures(state=state, seconds=each.cpu, delay=each.delay, threads=threads)]
        assert run.look() == ""
    assert run.waited_seconds == pytest.approx(waited)
    assert run.late_at == pytest.approx(BEGAN + 100.0 + waited)
    assert run.delay_seconds == pytest.approx(looks[-1].delay + looks[-1].thread_delay * looks[-1].threaded)


def test_of_many_threads_some_are_looked_at(world: World) -> None:
    run = run_of()
    threads = tuple((b"%d" % number, False, 1.0) for number in range(2 * MOST_THREADS))
    world.processes = [Figures(threads=threads)]
    run.look()
    assert run.delay_seconds == MOST_THREADS


def test_nobody_waits_without_end(world: World) -> None:
    run = run_of(wall_seconds=2.0)
    run.waited_seconds = 2.0 * MOST_DELAY - 1.0
    assert run.late_at == BEGAN + 2.0 + 2.0 * MOST_DELAY - 1.0
    run.waited_seconds = MUCH
    assert run.late_at == BEGAN + 2.0 + 2.0 * MOST_DELAY
    assert run_of().late_at == math.inf
