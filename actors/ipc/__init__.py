"""File IPC: a desk of request and response files between scripts and an editor."""

from actors.ipc.client_end import client_spec
from actors.ipc.desk import IpcDesk, desk_viewers_spec
from actors.ipc.editor import Readiness, editor_spec
from actors.ipc.errand import ClientTerms
from actors.ipc.evaluator import evaluator_spec
from actors.ipc.given import Facts
from actors.ipc.journal import ClientJournal
from actors.ipc.ledger import ledger_spec

__all__ = [
    "ClientJournal",
    "ClientTerms",
    "Facts",
    "IpcDesk",
    "Readiness",
    "client_spec",
    "desk_viewers_spec",
    "editor_spec",
    "evaluator_spec",
    "ledger_spec",
]
