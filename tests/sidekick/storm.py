"""A storm over a running server: in several rooms at once, peers of every dialect, in every role, come, go, stop
reading, break the protocol of the wire, and send odd messages. A hero and a page beside them must not be affected.

All random choices come from one seed. The gate runs a short storm (test_storm.py). This command first sends every odd
message through every ear and every mouth, and then runs a long storm:

    python -m tests.sidekick.storm [--seed N] [--rounds N]
"""

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import trio

from codec.sidekick import Dialect, Ear
from tests.house.running import Server, server
from tests.patience import PATIENCE
from tests.sidekick import odd
from tests.sidekick.codec.test_total import hold, mouths
from tests.sidekick.kit import bystanders, peer, said
from tests.sidekick.test_everyone import GUESTS, introduction
from tests.transports.house import BINARY, CLOSE, CONTINUATION, PING, TEXT, frame, read_all
from tests.transports.websocket.test_fast_lane import VIOLATIONS

ROOMS = 6
BROKEN = trio.BrokenResourceError, trio.ClosedResourceError
GARBAGE = [b"", b"\0" * 40, b"[" * 2_000, b'"' + b"x" * 70_000 + b'"', b"{}", b"\xff\xfe", b"null", b'{"component":']


class Weather:
    """What was sent."""

    def __init__(self) -> None:
        self.messages = 0
        self.connections = 0


async def storm(
    house: Server,
    seed: int,
    rounds: int,
    weather: Weather,
    report: Callable[[], Any] = lambda: None,
    rooms: int = ROOMS,
) -> None:
    """Each round is a burst of every guest of every room; after each, the bystanders are as they were."""
    dice = Random(seed)
    async with bystanders(house, "beside") as others:
        await others.undisturbed()
        for _ in range(rounds):
            with trio.fail_after(10 * PATIENCE):
                async with trio.open_nursery() as nursery:
                    for number in range(rooms):
                        for guest in range(len(GUESTS)):
                            nursery.start_soon(visit, house, f"storm-{number}", guest, dice.getrandbits(32), weather)
            await others.undisturbed()
            assert restarts(house) == {}
            report()


def restarts(house: Server) -> dict[str, int]:
    """Of whom, how often. The total also counts those that are gone."""
    tree = house.json("/tree.json")
    again = {node["path"]: node["restarts"] for node in tree["nodes"] if node["restarts"]}
    total = tree["totals"]["restarts"]
    return {**again, "(all)": total} if total else again


async def visit(house: Server, room: str, number: int, seed: int, weather: Weather) -> None:
    """One guest's connection, from its coming to its going."""
    dice = Random(seed)
    dialect, role, version = GUESTS[number]
    weather.connections += 1
    async with peer(house, room) as stream, trio.open_nursery() as nursery:
        reads = dice.random() < 0.9
        if reads:
            nursery.start_soon(read_all, stream)
        with suppress(*BROKEN), trio.move_on_after(PATIENCE):
            if role is not None:
                await stream.send_all(said(introduction(dialect, role, version, f"{room} {number}")))
            for _ in range(dice.randrange(1, 6)):
                data = b"".join(frames(dice, dialect, weather))
                at = dice.randrange(len(data) + 1)  # a read may end anywhere
                for part in (data[:at], data[at:]):
                    await stream.send_all(part)
            await stream.send_all(frame(CLOSE))
        if not reads:  # it vanishes
            nursery.cancel_scope.cancel()


def frames(dice: Random, dialect: Dialect, weather: Weather) -> Iterator[bytes]:
    for _ in range(dice.randrange(1, 40)):
        weather.messages += 1
        text = odd.drawn(dice, dialect if dice.random() < 0.9 else dice.choice(list(Dialect)))
        match dice.randrange(40):
            case 0:
                yield frame(dice.choice((TEXT, BINARY)), dice.choice(GARBAGE))
            case 1:
                at = dice.randrange(len(text))
                yield frame(TEXT, text[:at], final=False) + frame(PING, b"?") + frame(CONTINUATION, text[at:])
            case 2:
                at = dice.randrange(len(text))
                yield frame(TEXT, text[:at] + bytes([dice.randrange(256)]) + text[at + 1 :])
            case 3 if dice.random() < 0.1:
                yield dice.choice(list(VIOLATIONS.values()))
            case _:
                yield frame(TEXT, text)


# --- the whole of it -------------------------------------------------------------------------------------------------


def hear_all() -> int:
    """Each odd message there is, in each dialect: how many."""
    count = 0
    for dialect in Dialect:
        told = mouths()
        for data in odd.odd(dialect):
            hold(Ear(dialect), told, data)
            count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.sidekick.storm", description="A storm over a running server.")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="what is drawn (default: drawn too)")
    parser.add_argument("--rounds", type=int, default=100, help="how many, of some six thousand messages each")
    wanted = parser.parse_args()
    say(f"{hear_all():,} odd messages were heard, and said in {len(mouths())} ways")
    say(f"seed {wanted.seed}, {wanted.rounds} rounds")
    weather, began = Weather(), time.monotonic()

    def report() -> None:
        passed = time.monotonic() - began
        say(f"{passed:6.0f} s: {weather.messages:,} messages of {weather.connections:,} peers, and no restart")

    with tempfile.TemporaryDirectory() as folder, server(Path(folder), "--log-level", "error") as house:
        house.ready()
        trio.run(storm, house, wanted.seed, wanted.rounds, weather, report)
        assert house.stop() == 0, house.said
        assert calm(house.said), house.said


def calm(log: str) -> bool:
    """Whether nothing in it tells of a failure of ours."""
    return not any(word in log for word in ("Traceback", "an actor failed", "contained"))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
