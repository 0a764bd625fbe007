"""Finds and starts the problems' actors: one for each problem that a user looks at, runs or posts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from actors.judge.given import Folders, Machine, Watching
from actors.judge.problem import Problem
from actors.judge.registered import PROBLEMS
from actors.kernel import ActorRef, ChildSpec, NameTaken, Registry, Restart
from codec.judge import Commands

DEFAULT = Commands()


@dataclass(frozen=True, slots=True)
class Shelving:
    folders: Folders
    machine: Callable[[Registry], Machine]
    """Returns the same machine for the same registry."""
    wall: Callable[[], float]
    cores: int
    watching: Callable[[Registry], Watching] | None = None
    """None: edits are not noticed."""
    commands: Commands = DEFAULT
    """The commands that the configuration names."""

    async def problem(self, registry: Registry, id: str) -> ActorRef[Any]:  # noqa: A002 - as on the wire
        """The problem's actor, which is started if necessary. Raises a KernelError if that fails."""
        problems = registry.get(PROBLEMS)
        known = problems.child(id)
        if known is not None:
            return known
        watching = None if self.watching is None else self.watching(registry)
        make = partial(Problem, id, self.folders, self.machine(registry), self.wall, self.cores, watching)
        try:
            return await problems.start_child(ChildSpec(id, make, restart=Restart.TRANSIENT))
        except NameTaken:  # another task was faster: the actor is there, or starting
            known = problems.child(id)
            if known is None:
                raise
            return known
