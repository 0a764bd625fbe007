"""CPU time, counted as the kernel counts it and beyond: never more than was used, and all of it where all was seen."""

from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st

from transports.process.launcher.census import TICKS_PER_SECOND, ProcessSeen
from transports.process.launcher.ledger import CUT_OFF_TICKS, CpuLedger

KEEPER, LEADER = 1, 2


@dataclass
class Process:
    pid: int
    parent: int
    began: int
    reaps: bool
    own: int = 0
    children: int = 0
    alive: bool = True
    line: list[int] = field(default_factory=list)


class World:
    """Processes as a kernel keeps them, in whole ticks."""

    def __init__(self) -> None:
        self.used = 0
        self.clock = 0
        self.next = LEADER
        self.there: dict[int, Process] = {}
        self.reaped: dict[int, float] = {}
        self.fork(KEEPER, True)

    def fork(self, parent: int, reaps: bool) -> None:
        self.clock += 1
        self.there[self.next] = Process(self.next, parent, self.clock, reaps)
        self.next += 1

    def burn(self, pid: int, ticks: int) -> None:
        self.there[pid].own += ticks
        self.used += ticks

    def end(self, pid: int) -> None:
        gone = self.there.pop(pid)
        for other in self.there.values():
            if other.parent == pid:
                other.parent = KEEPER
        if gone.parent == KEEPER:
            self.reaped[pid] = (gone.own + gone.children) / TICKS_PER_SECOND
        elif self.there[gone.parent].reaps:
            self.there[gone.parent].children += gone.own + gone.children

    def members(self) -> list[ProcessSeen]:
        return [member(process) for process in self.there.values()]

    def find(self, pid: int) -> ProcessSeen | None:
        process = self.there.get(pid)
        return None if process is None else member(process)


def member(process: Process) -> ProcessSeen:
    fields = [b"0"] * 30
    fields[0:3] = [b"S", b"%d" % process.parent, b"1"]
    fields[11:15] = [b"%d" % process.own, b"0", b"%d" % process.children, b"0"]
    fields[19] = b"%d" % process.began
    return ProcessSeen(process.pid, b"1 (a) " + b" ".join(fields))


step = st.tuples(
    st.sampled_from(["fork", "fork one who reaps nobody", "burn", "burn", "end", "look", "overlook"]),
    st.integers(0, 20),
    st.integers(0, 50),
)


@given(st.lists(step, max_size=40))
@example([("fork one who reaps nobody", 0, 0), ("fork", 1, 0), ("burn", 2, 40), ("look", 0, 0), ("end", 2, 0)])
@example([("fork", 0, 0), ("fork", 1, 0), ("burn", 2, 40), ("look", 0, 0), ("end", 2, 0), ("end", 1, 0), ("end", 0, 0)])
@example([("fork", 0, 0), ("fork", 1, 0), ("burn", 2, 40), ("look", 0, 0), ("end", 1, 0), ("end", 1, 0), ("end", 0, 0)])
@example([("fork", 0, 0), ("burn", 1, 9), ("look", 0, 0), ("overlook", 0, 0), ("look", 0, 0)])
def test_never_more_than_was_used_and_no_less_than_was_seen_or_reaped(told: list[tuple[str, int, int]]) -> None:
    world, ledger = World(), CpuLedger()
    seconds = 0.0
    for what, which, ticks in [*told, ("look", 0, 0)]:
        pids = [*world.there]
        pid = pids[which % len(pids)] if pids else None
        match what:
            case "fork" if pid:
                world.fork(pid, True)
            case "fork one who reaps nobody" if pid:
                world.fork(pid, False)
            case "burn" if pid:
                world.burn(pid, ticks)
            case "end" if pid:
                world.end(pid)
            case "look" | "overlook":
                shown = world.members() if what == "look" else world.members()[::2]
                seconds = ledger.look(shown, world.reaped, world.find)
                assert seconds * TICKS_PER_SECOND <= world.used + 1e-6
    kernel = sum((each.own + each.children) / TICKS_PER_SECOND for each in world.there.values())
    assert seconds >= kernel + sum(world.reaped.values()) - 1e-6


@given(st.lists(st.integers(10, 50), min_size=1, max_size=20))
def test_what_is_seen_of_children_whom_nobody_reaps_is_counted(all_ticks: list[int]) -> None:
    world, ledger = World(), CpuLedger()
    world.end(LEADER)
    world.fork(KEEPER, False)
    leader = world.next - 1
    for ticks in all_ticks:
        world.fork(leader, True)
        world.burn(world.next - 1, ticks)
        ledger.look(world.members(), world.reaped, world.find)
        world.end(world.next - 1)
    world.end(leader)
    seconds = ledger.look([], world.reaped, world.find)
    assert world.used - 2 * CUT_OFF_TICKS <= seconds * TICKS_PER_SECOND + 1e-6 <= world.used + 2e-6
