"""`troupe sessions`: the agent's sessions on a running server, and the link to its page."""

import sys
from functools import partial
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

import msgspec

from codec.agent.sessions import SessionFact
from codec.agent.workspaces import WorkspaceFact
from codec.printable import printable
from codec.words import counted
from program import streams
from program.agent_arguments import ListSessions
from program.commands.agent import AgentMeans, met, registered, troubles
from program.visiting import Finish, address, run


def sessions(command: ListSessions, means: AgentMeans, out: TextIO | None = None) -> int:
    return run(partial(_sessions, command, means, out or sys.stdout))


async def _sessions(command: ListSessions, means: AgentMeans, out: TextIO, stop: Finish) -> int:
    visitor = met(means, command.state_dir)
    if command.link:
        streams.show(link(address(None, command.state_dir, "agent"), command.state_dir) + "\n", out)
        return 0
    with troubles(means):
        with stop.waiting():
            query = ""
            if command.workspace is not None:
                query = f"?workspace_id={quote((await registered(visitor, command.workspace)).id, safe='')}"
            answer = await visitor.ask("GET", f"sessions{query}")
            places = msgspec.json.decode(await visitor.ask("GET", "workspaces"), type=list[WorkspaceFact])
            if command.json:
                streams.show(answer.decode() + "\n", out)
            else:
                streams.show(_listed(msgspec.json.decode(answer, type=list[SessionFact]), places), out)
            return 0
        return stop.code


def link(url: str, state_dir: Path) -> str:
    """Opens the page. What follows # stays in the browser."""
    return f"{url}/#token={(state_dir / 'agent.token').read_text('ascii').strip()}"


def _listed(facts: list[SessionFact], workspaces: list[WorkspaceFact]) -> str:
    if not facts:
        return "There are no sessions yet.\n"
    paths = {workspace.id: workspace.path for workspace in workspaces}
    return "".join(_lines(fact, paths.get(fact.workspace_id, "")) for fact in facts)


def _lines(fact: SessionFact, path: str) -> str:
    asks = f"asks {counted(fact.pending_approvals, 'time')}" if fact.pending_approvals else ""
    about = (fact.updated_at[:16].replace("T", " "), "running" if fact.running else asks, path)
    title = printable(fact.title or "New session")
    return f"{fact.id}  {title}\n    {printable('  '.join(part for part in about if part))}\n"
