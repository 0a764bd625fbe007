"""The agent: workspaces, models, sessions with their turns and clients, and their door."""

import os
import secrets
import ssl
import sys
import time
from functools import partial
from importlib import resources
from pathlib import Path

import msgspec
import structlog

from actors import agent
from actors.kernel import AnySpec, Decay, Stage, supervisor_spec
from codec.agent.builtin import deltas
from codec.agent.models import Provider
from codec.console import Listening
from codec.settings import AgentSettings, Settings
from program import streams
from program.serving import Listeners
from program.terminal import is_terminal
from program.trouble import Trouble
from program.version import version
from transports.agent.gate import Gate
from transports.agent.port import BODY_BYTES, MESSAGE_BYTES, agent_application, agent_websocket
from transports.agent.providers import Families, Server
from transports.agent.secret import TOKEN_FILE, AgentToken, TokenUnusable, agent_token
from transports.agent.tree import FolderTrees
from transports.door.door import Door
from transports.door.listener import Report, listener_spec
from transports.http.pages import add_pages
from transports.wire.limits import DoorLimits, HttpLimits, WebSocketLimits
from transports.wire.policy import HostPolicy

FACTS = agent.ServerFacts(version(), capabilities=("agentic_rag", "token_delta", "resume", "steering", "queueing"))


def agent_spec(settings: Settings, listeners: Listeners, state_dir: Path) -> AnySpec:
    """Raises Trouble if there can be no token, or no certificates."""
    section = settings.agent
    token, tls = _token(state_dir), _tls(section, state_dir)
    providers = families(section)
    trees = FolderTrees()
    web = resources.files("web")
    contract = (resources.files("schemas") / "openapi.json").read_bytes()
    gate = Gate(token.text, time.monotonic, where=str(state_dir / TOKEN_FILE))

    def door(stage: Stage) -> Door:
        desk = agent.AgentDesk(stage.registry, stage.new_id, FACTS)
        return Door(
            app=add_pages(agent_application(desk, gate, web, contract), web, listeners.urls),
            on_websocket=agent_websocket(desk, gate),
            hosts=section.addresses,
            port=section.port,
            tls=tls,
            accounts=section.accounts,
            policy=HostPolicy(origins=section.origins, setting="agent.origins"),
            limits=DoorLimits(
                http=HttpLimits(body_bytes=BODY_BYTES), websocket=WebSocketLimits(message_bytes=MESSAGE_BYTES)
            ),
            new_id=stage.new_id,
        )

    return supervisor_spec(
        "agent",
        [
            agent.workspaces_spec(trees, time.time),
            agent.models_spec(providers, section.servers),
            *agent.sessions_specs(partial(agent.turn_spec, providers=providers, trees=trees), time.time, new_id),
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
    return Families(servers, deltas, environment=os.environ)


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
