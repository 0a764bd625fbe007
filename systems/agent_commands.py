"""How the agent's commands reach an agent: the running server's, or one that runs only for a question or a search."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio
from msgspec.structs import replace

from actors.kernel import AnySpec, ChildSpec, Top, run
from actors.store import StateDirectory, StateError, store_spec
from program import places
from program.agent_arguments import AgentCommand
from program.commands.agent import AgentMeans
from program.config import load
from program.logs import logging_to
from program.serving import Listeners
from program.trouble import WENT_WRONG, Trouble
from systems.agent import agent_spec
from transports.agent.client import AgentRefused, AgentVisitor


@asynccontextmanager
async def here(command: AgentCommand) -> AsyncIterator[AgentVisitor]:
    """The agent's branch and the store, for as long as the block lasts."""
    settings = load(command.config, command.overrides, default=places.config_file())
    settings = replace(settings, agent=replace(settings.agent, enabled=True, port=0, tls=False))
    listeners = Listeners(["agent"])
    try:
        with StateDirectory.claim(command.state_dir) as directory, logging_to(form="text", level="error"):
            branch = agent_spec(settings, listeners, directory.path)
            top = ChildSpec("troupe", lambda: Top([store_spec(directory), branch]), start_timeout=math.inf)
            async with _running(top):
                await listeners.changed()
                url = listeners.urls()["agent"]
                if url is None:
                    raise Trouble(" ".join(listeners.down), code=WENT_WRONG)
                yield AgentVisitor.of(url, directory.path)
    except StateError as error:
        raise Trouble(str(error)) from None


@asynccontextmanager
async def _running(top: AnySpec) -> AsyncIterator[None]:
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(run, top))
            yield
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from None  # the block's own, as if there were no nursery


AGENT = AgentMeans(AgentVisitor.of, here, AgentRefused)
