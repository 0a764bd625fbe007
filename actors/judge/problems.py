"""The factory of problems: it gives out the actor of a problem, and starts it if need be.

There is one actor for each problem that somebody looks at, runs or posts. They live in the crowd PROBLEMS. This file
has the parts that each of them is made of, and that the callers also work with. The factory is a value and no actor:
the intake and the panels start a problem each in their own time, and none waits for another's.
"""

from collections.abc import Callable
from functools import partial

from msgspec import Struct

from actors.judge.given import Folders, Machine, Watching
from actors.judge.messages.problem import ProblemMessage
from actors.judge.problem import Problem
from actors.judge.registered import PROBLEMS
from actors.kernel import ActorRef, ChildSpec, NameTaken, Registry, Restart
from codec.judge import Commands

DEFAULT = Commands()


class Problems(Struct, frozen=True):
    folders: Folders
    machine: Callable[[Registry], Machine]
    """Returns the same machine for the same registry."""
    wall: Callable[[], float]
    cores: int
    watching: Callable[[Registry], Watching] | None = None
    """None: edits are not noticed."""
    commands: Commands = DEFAULT
    """The commands that the configuration names."""

    async def actor(self, registry: Registry, id: str) -> ActorRef[ProblemMessage]:  # noqa: A002 - as on the wire
        """The problem's actor, which is started if necessary. Raises a KernelError if that fails."""
        known = self.known(registry, id)
        if known is not None:
            return known
        crowd = registry.get(PROBLEMS)
        watching = None if self.watching is None else self.watching(registry)
        make = partial(Problem, id, self.folders, self.machine(registry), self.wall, self.cores, watching)
        try:
            return await crowd.start_child(ChildSpec(id, make, restart=Restart.TRANSIENT))
        except NameTaken:  # another task was faster: the actor is there, or starting
            known = crowd.child(id)
            if known is None:
                raise
            return known

    def known(self, registry: Registry, id: str) -> ActorRef[ProblemMessage] | None:  # noqa: A002
        """The problem's actor, if there is one."""
        return registry.get(PROBLEMS).child(id)
