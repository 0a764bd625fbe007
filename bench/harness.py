"""Measures ours beside its peers, on a machine that is never quiet.

Rules
  - Ours and all its peers take turns in short slices. A round is one slice of each, and each round begins with another
    of them. A disturbance longer than a slice affects all of them. A shorter one spoils a round, which the median over
    the rounds leaves out. So trust the ratio, which is the median of the ratios of all rounds. The two figures beside
    it are medians of their own, and their quotient is not exactly this ratio.
  - A higher ratio is always better: for rates it is ours / theirs, for costs theirs / ours. A goal is the least ratio
    that we accept, so "at most three times the cost" is a goal of 1/3.
  - All sides do the same work, to the last unit. Setting up and tidying up are not timed.
  - We measure CPU time if everything happens in this process, because this excludes other programs. If something has to
    wait (for disks or other threads), we measure wall time, and then for all sides.
  - If a peer cannot run here, its line says why; it is never left out.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from gc import collect
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple, Protocol, TypeVar

T = TypeVar("T")

SLICE = 0.03
"""Seconds."""

Go = Callable[[], Awaitable[object]]
Side = Callable[[int], AbstractAsyncContextManager[Go]]
"""Set up for so many units and yield what does them: `async with side(n) as go: await go()`, of which go() is timed."""


class Bench(Protocol):
    """What a module in this folder has that is a bench."""

    NAME: str
    ABOUT: str

    def run(self, rounds: int) -> "Iterator[Result]": ...


class LongBench(Protocol):
    """One whose time is given in minutes."""

    MINUTES: float

    def run(self, rounds: int, *, minutes: float) -> "Iterator[Result]": ...


@dataclass(frozen=True, slots=True)
class Unit:
    name: str
    cost: bool = False
    """Less is better."""
    scale: float = 1.0
    """Of a second, or of whatever a cost is measured in."""

    def of(self, units: int, seconds: float) -> float:
        return seconds / units / self.scale if self.cost else units / seconds * self.scale

    def ratio(self, ours: float, theirs: float) -> float:
        return theirs / ours if self.cost else ours / theirs


MESSAGES = Unit("msg/s")
MICROSECONDS = Unit("µs", cost=True, scale=1e-6)
BYTES = Unit("bytes", cost=True)


@dataclass(frozen=True, slots=True)
class Result:
    """One line: ours beside one peer in one case."""

    bench: str
    case: str
    peer: str
    ours: float | None
    theirs: float | None
    unit: str
    ratio: float | None
    goal: float | None = None
    """None: the peer is there to be seen."""
    why: str | None = None
    """Why there is no ratio."""

    @classmethod
    def between(
        cls,
        bench: str,
        case: str,
        peer: str,
        rounds: Sequence[tuple[float, float]],
        unit: Unit,
        goal: float | None = None,
    ) -> "Result":
        """Of the figures of each round, ours and theirs."""
        ours = median(ours for ours, _ in rounds)
        theirs = median(theirs for _, theirs in rounds)
        ratio = median(unit.ratio(*pair) for pair in rounds)
        return cls(bench, case, peer, _rounded(ours), _rounded(theirs), unit.name, _rounded(ratio), goal)

    @property
    def missed(self) -> bool:
        return self.goal is not None and self.ratio is not None and self.ratio < self.goal

    def to_json(self) -> str:
        fields = asdict(self)
        if self.why is None:
            del fields["why"]
        return json.dumps(fields, ensure_ascii=False)


def _rounded(figure: float) -> float:
    """To the four digits that may mean something."""
    return float(f"{figure:.4g}")


class Timing(NamedTuple):
    units: int
    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    side: Side
    goal: float | None = None
    wall: bool = False
    """Measure ours and this one in wall time."""

    def seconds(self, timing: Timing) -> float:
        return timing.wall if self.wall else timing.cpu

    def figures(self, timings: Sequence[Timing], unit: Unit) -> Iterator[float]:
        return (unit.of(timing.units, self.seconds(timing)) for timing in timings)


@dataclass(frozen=True, slots=True)
class Absent:
    """A peer that cannot run here."""

    name: str
    why: str
    goal: float | None = None


async def compare(
    bench: str,
    case: str,
    ours: Side,
    peers: Sequence[Peer | Absent],
    *,
    rounds: int,
    unit: Unit = MESSAGES,
    seconds: float = SLICE,
) -> list[Result]:
    """Ours beside each of the peers, all in the same rounds of slices of about so many seconds."""
    present = [peer for peer in peers if isinstance(peer, Peer)]
    wall = bool(present) and all(peer.wall for peer in present)
    mine, *others = await take_turns([Peer("ours", ours, wall=wall), *present], rounds, seconds)
    theirs = iter(others)
    results = []
    for peer in peers:
        if isinstance(peer, Peer):
            pairs = list(zip(peer.figures(mine, unit), peer.figures(next(theirs), unit), strict=True))
            results.append(Result.between(bench, case, peer.name, pairs, unit, peer.goal))
        else:
            results.append(Result(bench, case, peer.name, None, None, unit.name, None, peer.goal, peer.why))
    return results


async def take_turns(peers: Sequence[Peer], rounds: int, seconds: float) -> list[list[Timing]]:
    """The timings of each, one per round."""
    sizes = [await _units_in(peer, seconds) for peer in peers]
    timings: list[list[Timing]] = [[] for _ in peers]
    for number in range(rounds):
        for place in range(len(peers)):
            turn = (number + place) % len(peers)
            timings[turn].append(await timed(peers[turn].side, sizes[turn]))
    return timings


async def _units_in(peer: Peer, seconds: float) -> int:
    """How many units make a slice, of the best of three tries; also a warm-up."""
    units = 16
    while True:
        took = min([peer.seconds(await timed(peer.side, units)) for _ in range(3)])
        if took >= seconds / 2:
            return max(1, round(units * seconds / took))
        units *= 2


async def timed(side: Side, units: int) -> Timing:
    async with side(units) as go:
        collect()  # the rubbish of others is not to be swept at this one's expense
        cpu, wall = process_time(), perf_counter()
        await go()
        return Timing(units, process_time() - cpu, perf_counter() - wall)


# -- printing

COLUMNS = "{:<26}  {:<30}  {:>11}  {:>11}  {:<6}  {:>6}  {:>5}  {}"


def print_json(results: Iterable[Result]) -> None:
    for result in results:
        print(result.to_json(), flush=True)


def print_table(results: Iterable[Result]) -> None:
    """Line by line as they come, each case under the one before."""
    print(COLUMNS.format("case", "beside", "ours", "theirs", "unit", "ratio", "goal", "").rstrip())
    case = None
    for result in results:
        name = "" if result.case == case else result.case
        case = result.case
        figures = (_figure(result.ours), _figure(result.theirs), result.unit, _figure(result.ratio))
        print(COLUMNS.format(name, result.peer, *figures, _figure(result.goal), _remark(result)).rstrip(), flush=True)


def _figure(figure: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _remark(result: Result) -> str:
    if result.why is not None:
        return result.why
    if result.goal is None or result.ratio is None:
        return ""
    return "MISSED" if result.missed else "reached"


def in_turns(sides: Sequence[Callable[[], T]], rounds: int) -> list[list[T]]:
    """What each gives in each round; each round begins with another of them."""
    given: list[list[T]] = [[] for _ in sides]
    for number in range(rounds):
        for place in range(len(sides)):
            turn = (number + place) % len(sides)
            given[turn].append(sides[turn]())
    return given
