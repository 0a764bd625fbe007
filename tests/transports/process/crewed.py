"""A Foreman with a crew of test members; and the program of such a member.

An order is a word and a rest: echo TEXT, parts N, sleep SECONDS (deaf to a stop), wait (until it is stopped), die,
spin, grow BYTES, fail TEXT, pid, fork.
"""

import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transports.process.crew import Crew, CrewProgram, CrewStatistics, Foreman
    from transports.process.member import MemberLine

PATIENCE = 60.0
ROOT = str(Path(__file__).parents[3])
_KEPT: list[bytes] = []


def do(order: bytes, line: "MemberLine") -> bytes:
    word, _, rest = order.decode().partition(" ")
    match word:
        case "echo":
            return rest.encode()
        case "long":
            return b"x" * int(rest)
        case "parts":
            for number in range(int(rest)):
                line.say(str(number).encode())
        case "sleep":
            line.say(b"asleep")
            time.sleep(float(rest))
        case "wait":
            line.say(b"waiting")
            while True:
                line.lively()
                time.sleep(0.001)
        case "die":
            os._exit(3)
        case "spin":
            while True:
                pass
        case "grow":
            _KEPT.append(b"x" * int(rest))
        case "fail":
            raise ValueError(rest)
        case "pid":
            return str(os.getpid()).encode()
        case "environment":
            return repr((sorted(os.environ), os.getcwd(), os.getsid(0) == os.getpid())).encode()
        case "fork":
            if not os.fork():
                time.sleep(1000)
            line.say(b"forked")
            time.sleep(1000)
        case "rubbish":
            line._end.sendall(b"\xff" * 100)
    return b""


class Crewed:
    def __init__(self, crew: "Crew", lives: "list[Foreman]") -> None:
        self.crew = crew
        self.lives = lives
        """The Foreman's incarnations."""

    def statistics(self) -> "CrewStatistics":
        return self.lives[-1].statistics()

    async def ask(self, order: str) -> str:
        return (await self.crew.do(order.encode(), seconds=PATIENCE)).decode()


def program_of(mark: str, **options: Any) -> "CrewProgram":
    from transports.process.crew import CrewProgram

    return CrewProgram(**{"program": __file__, "argv": (ROOT, mark), **options})


@asynccontextmanager
async def open_crew(
    mark: str = "", *, most: int = 2, idle_seconds: float = 60.0, **options: Any
) -> AsyncIterator[Crewed]:
    import trio

    from actors.kernel import ChildSpec, Key, Stage, Top, run
    from transports.process.crew import Crew, Foreman, ForemanMessage, crew_spec

    name = Key[ForemanMessage]("crew")
    lives: list[Foreman] = []
    stages: list[Stage] = []

    def make() -> Foreman:
        lives.append(Foreman(name, program_of(mark, **options), most=most, idle_seconds=idle_seconds))
        return lives[-1]

    spec = ChildSpec("top", lambda: Top([crew_spec(make)]), start_timeout=PATIENCE, grace=PATIENCE)
    async with trio.open_nursery() as nursery:
        ref = await nursery.start(partial(run, spec, on_stage=stages.append))
        yield Crewed(Crew(stages[0].registry, name), lives)
        with trio.fail_after(PATIENCE):
            await ref.stop()


async def _own(mark: str) -> None:
    """A server with two members at work, to be killed."""
    import trio

    async with open_crew(mark) as crewed, trio.open_nursery() as nursery:
        for order in ("fork", "spin"):
            nursery.start_soon(crewed.ask, order)
        await trio.sleep_forever()


def main() -> None:
    life, memory, seconds, root, *_ = sys.argv[1:]
    sys.path.append(root)
    from transports.process.member import serve

    serve(do, [life, memory, seconds])


if __name__ == "__main__":
    if sys.argv[1] == "own":
        import trio

        trio.run(_own, sys.argv[2])
    else:
        main()
