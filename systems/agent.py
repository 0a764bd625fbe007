"""The agent: workspaces, models, sessions with their turns and clients, and their door."""

import os
import secrets
import ssl
import sys
import time
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path

import msgspec
import structlog
import trio

from actors import agent
from actors.kernel import AnySpec, Decay, Key, Registry, Stage, supervisor_spec
from codec.agent.builtin import deltas
from codec.agent.models import Provider
from codec.agent.patches import made_diff
from codec.console import Listening
from codec.settings import AgentSettings, Settings
from program import streams
from program.serving import Listeners
from program.terminal import is_terminal
from program.trouble import Trouble
from program.version import version
from transports.agent.commands import ShellCommands
from transports.agent.gate import Gate
from transports.agent.index.folder_indexes import FolderIndexes, index_workers
from transports.agent.index.vector_matrix import has_numpy
from transports.agent.index.watching import TreeWatches
from transports.agent.port import BODY_BYTES, IN_JSON, MESSAGE_BYTES, agent_application, agent_websocket
from transports.agent.providers import Families, Server
from transports.agent.secret import AgentToken, TokenUnusable, agent_token
from transports.agent.tree import FolderTrees
from transports.door.door import Door
from transports.door.listener import Report, listener_spec
from transports.http.pages import add_pages
from transports.process.crew import Crew, Foreman, ForemanMessage, crew_spec
from transports.process.keepers import Launcher, LauncherMessage, launcher_spec
from transports.process.run import Runner
from transports.wire.limits import DoorLimits, HttpLimits, WebSocketLimits
from transports.wire.policy import HostPolicy

FACTS = agent.ServerFacts(version(), capabilities=("agentic_rag", "token_delta", "resume", "steering", "queueing"))
FOUND_OUT_SECONDS = 2.0
NO_NUMPY = "places are not found by their meaning: numpy is not installed; install it and start Troupe again"
LAUNCHER = Key[LauncherMessage]("agent/launcher")
"""Not the judge's: neither ends with the other's programs."""
FOREMAN = Key[ForemanMessage]("agent/index workers")


def agent_spec(settings: Settings, listeners: Listeners, state_dir: Path) -> AnySpec:
    """Raises Trouble if there can be no token, or no certificates."""
    section = settings.agent
    token, tls = _token(state_dir), _tls(section, state_dir)
    providers = families(section)
    trees = FolderTrees([state_dir])
    web = resources.files("web")
    contract = (resources.files("schemas") / "openapi.json").read_bytes()
    gate = Gate(token.text, time.monotonic)
    watches = TreeWatches([state_dir])

    model = section.embedding_model.strip()
    embedder = providers.embedder(section.embedding_server, model) if model else None
    if embedder is not None and not has_numpy():
        structlog.get_logger("agent").warning(NO_NUMPY, model=model)

    def index_means(registry: Registry) -> agent.IndexMeans:
        indexes = FolderIndexes(Crew(registry, FOREMAN), state_dir, [state_dir], embedder=embedder)
        return agent.IndexMeans(indexes, watches, trees)

    def door(stage: Stage) -> Door:
        desk = agent.AgentDesk(stage.registry, stage.new_id, FACTS, partial(found_out, stage.registry), trees)
        return Door(
            app=add_pages(agent_application(desk, gate, web, contract), web, listeners.urls),
            on_websocket=agent_websocket(desk, gate),
            hosts=section.addresses,
            port=section.port,
            tls=tls,
            wording=IN_JSON,
            accounts=section.accounts,
            policy=HostPolicy(origins=section.origins, setting="agent.origins"),
            limits=DoorLimits(
                http=HttpLimits(body_bytes=BODY_BYTES), websocket=WebSocketLimits(message_bytes=MESSAGE_BYTES)
            ),
            new_id=stage.new_id,
        )

    acting = agent.ActingMeans(commands_of, rights=agent.current_rights)
    return supervisor_spec(
        "agent",
        [
            launcher_spec(partial(Launcher, LAUNCHER)),
            *agent.commands_specs(),
            agent.workspaces_spec(trees, time.time),
            crew_spec(partial(Foreman, FOREMAN, index_workers()), "index workers"),
            *agent.indexers_specs(index_means),
            agent.models_spec(providers),
            *agent.sessions_specs(
                partial(agent.turn_spec, providers=providers, trees=trees, acting=acting),
                time.time,
                new_id,
                commands_ended=agent.commands_ended,
                undo=partial(agent.undo_order, trees, diff_text),
                files_now=partial(agent.files_now, trees),
            ),
            listener_spec("agent", door, partial(_tell_link, token, listeners.report)),
        ],
        meter=Decay(),
    )


def families(section: AgentSettings) -> Families:
    configured: dict[Provider, str] = msgspec.convert(section.servers, dict[Provider, str])
    servers = [
        Server(provider, url, section.key_variable if provider == "openai" else "")
        for provider, url in configured.items()
    ]
    return Families(servers, deltas, others=section.model_addresses, environment=os.environ)


@cache
def commands_of(registry: Registry) -> ShellCommands:
    return ShellCommands(Runner(registry, LAUNCHER))


def diff_text(path: str, before: bytes | None, after: bytes | None) -> str:
    return made_diff(path, before, after).diff


async def found_out(registry: Registry) -> Sequence[str]:
    """What this machine can do for commands. It is tried once; who connects meanwhile does not wait for long."""
    with trio.move_on_after(FOUND_OUT_SECONDS):
        if await commands_of(registry).confines():
            return ("offline_commands",)
    return ()


def new_id() -> str:
    """Never the same twice, also after a restart."""
    return secrets.token_hex(8)


def _token(state_dir: Path) -> AgentToken:
    try:
        return agent_token(state_dir)
    except TokenUnusable as error:
        raise Trouble(str(error)) from None


def _tls(section: AgentSettings, state_dir: Path) -> ssl.SSLContext | None:
    if not section.tls:
        return None
    from transports.agent.certificates import CertificatesUnusable, aware_now, certificates  # takes a while to load

    try:
        made = certificates(state_dir, section.addresses, aware_now())
    except CertificatesUnusable as error:
        raise Trouble(str(error)) from None
    structlog.get_logger("agent").info(
        "the agent's certificates are signed by an authority of this machine",
        authority=str(made.authority),
        sha256=made.fingerprint,
    )
    return made.context


def _tell_link(token: AgentToken, report: Report, name: str, listening: Listening) -> None:
    """A new token is told once, where a person reads it: never in a log that is kept."""
    if token.new and listening.url is not None and is_terminal(sys.stderr):
        streams.say(f"The agent's page: {listening.url}/#token={token.text}\n", sys.stderr)
    report(name, listening)
