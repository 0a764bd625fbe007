"""File IPC: a desk of request and response files between scripts and an editor."""

from actors.ipc.client_end import client_spec
from actors.ipc.command import ServerTerms
from actors.ipc.commands import known_commands
from actors.ipc.desk import IpcDesk, desk_viewers_spec
from actors.ipc.editor import Readiness, editor_spec
from actors.ipc.errand import ClientTerms
from actors.ipc.evaluator import evaluator_spec
from actors.ipc.given import Facts
from actors.ipc.handlers import Handlers, given_command
from actors.ipc.journal import ClientJournal
from actors.ipc.ledger import ledger_spec
from actors.ipc.server_end import server_spec
from actors.ipc.uptime import Uptime

__all__ = [
    "ClientJournal",
    "ClientTerms",
    "Facts",
    "Handlers",
    "IpcDesk",
    "Readiness",
    "ServerTerms",
    "Uptime",
    "client_spec",
    "desk_viewers_spec",
    "editor_spec",
    "evaluator_spec",
    "given_command",
    "known_commands",
    "ledger_spec",
    "server_spec",
]
