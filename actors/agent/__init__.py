"""The agent: workspaces, sessions that outlive their clients and the process, their turns, and the models."""

from actors.agent.acting import ActingMeans
from actors.agent.client import ServerFacts
from actors.agent.commanding import commands_ended, commands_specs
from actors.agent.desk import AgentDesk
from actors.agent.half_done import files_now
from actors.agent.index.indexer import IndexMeans
from actors.agent.index.indexers import indexers_specs
from actors.agent.models import models_spec
from actors.agent.rights import current_rights
from actors.agent.sessions import sessions_specs
from actors.agent.turn import turn_spec
from actors.agent.undoing import undo_order
from actors.agent.workspaces import workspaces_spec

__all__ = [
    "ActingMeans",
    "AgentDesk",
    "IndexMeans",
    "ServerFacts",
    "commands_ended",
    "commands_specs",
    "current_rights",
    "files_now",
    "indexers_specs",
    "models_spec",
    "sessions_specs",
    "turn_spec",
    "undo_order",
    "workspaces_spec",
]
