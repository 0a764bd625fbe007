"""A ballot: it counts votes for a minute. Anybody who knows its name can vote, and a spoilt vote does no harm.

Run it with `python examples/kernel/ballot.py`, and read the page beside it.
"""

from dataclasses import dataclass
from functools import partial

import trio

from actors.kernel import Actor, AnyRef, ChildSpec, Key, Reply, Restart, Stage, run, supervisor_spec

OPEN_SECONDS = 60.0

# -- its messages


@dataclass(frozen=True, slots=True)
class Vote:
    name: str


@dataclass(frozen=True, slots=True)
class Total:
    """How many votes are there?"""

    reply: Reply[int]


@dataclass(frozen=True, slots=True)
class Close:
    """The time is over."""


BallotMessage = Vote | Total | Close
BALLOT = Key[BallotMessage]("examples/ballot")

# -- the actor


class Ballot(Actor[BallotMessage]):
    def __init__(self) -> None:
        self._names: list[str] = []

    async def started(self, kept: object | None) -> None:
        if isinstance(kept, list):
            self._names = kept
        self.stage.registry.claim(BALLOT, self.ref)
        self.tell_later(OPEN_SECONDS, Close())

    def keep(self) -> list[str]:
        return self._names

    async def handle(self, message: BallotMessage) -> None:
        match message:
            case Vote(name):
                if not name:
                    raise ValueError("a vote is for somebody")
                self._names.append(name)
            case Total(reply):
                reply.set(len(self._names))
            case Close():
                self.finish()
            case _:
                self.unknown(message)


# -- who keeps it


def ballot_spec() -> ChildSpec[BallotMessage]:
    return ChildSpec("ballot", Ballot, restart=Restart.TRANSIENT)


async def main() -> None:
    stages: list[Stage] = []
    async with trio.open_nursery() as nursery:
        town = supervisor_spec("town", [ballot_spec()])
        root: AnyRef = await nursery.start(partial(run, town, on_stage=stages.append))
        ballot = stages[0].registry.get(BALLOT)
        ballot.tell(Vote("Ada"))
        ballot.tell(Vote(""))
        ballot.tell(Vote("Grace"))
        print(await ballot.ask(Total, timeout=5.0), "votes,", ballot.statistics().restarts, "restart")
        await root.stop()


if __name__ == "__main__":
    trio.run(main)
