"""The agent: workspaces, sessions that outlive their clients and the process, their turns, and the models."""

from actors.agent.client import ServerFacts
from actors.agent.desk import AgentDesk
from actors.agent.models import models_spec
from actors.agent.sessions import sessions_specs
from actors.agent.turn import turn_spec
from actors.agent.workspaces import workspaces_spec

__all__ = [
    "AgentDesk",
    "ServerFacts",
    "models_spec",
    "sessions_specs",
    "turn_spec",
    "workspaces_spec",
]
