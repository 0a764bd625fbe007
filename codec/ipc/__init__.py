"""File IPC on the wire: requests and responses in the dialects of real peers, and how answers are scored."""

from codec.ipc.ids import BadId, checked, file_of, id_of, in_turn
from codec.ipc.metrics import Scores, scores
from codec.ipc.request import BadRequest, Dialect, Request, Wishes, read_request, write_request
from codec.ipc.response import (
    BOTH,
    BadResponse,
    Failure,
    Outcome,
    Response,
    Success,
    read_response,
    write_response,
)

__all__ = [
    "BOTH",
    "BadId",
    "BadRequest",
    "BadResponse",
    "Dialect",
    "Failure",
    "Outcome",
    "Request",
    "Response",
    "Scores",
    "Success",
    "Wishes",
    "checked",
    "file_of",
    "id_of",
    "in_turn",
    "read_request",
    "read_response",
    "scores",
    "write_request",
    "write_response",
]
