"""A response, as it stands in `responses/ID.json`.

    SPEC     {"request_id", "status": "success", "data": {...}}, or {"status": "error", "error_message": TEXT}
    HEAD     {"request_id", "final_status": "success" | "failed" | "error", "attempts": [...]}; `error_message` with
             "error" only, which means that it was not tried
    PROMPT   {"request_id", "success": true | false, "response": TEXT or null, "error_message": TEXT or null}

Rules
  - Reading is total: any bytes are a Response, or BadResponse with a sentence that says what is wrong.
  - A response that is in two dialects at once, as an end writes it that does not know who reads it (`BOTH`), is read in
    the first of the three that it is in.
  - A failed response without a reason fails with a sentence that says so.
  - {"troupe": {"begun": N}} says that what was asked was begun N times, and may have been done more than once. It is
    there only where that is so; foreign peers ignore it.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from codec.ipc.request import Dialect, check_name, document

BOTH = (Dialect.SPEC, Dialect.HEAD)
MOST_BEGUN = 1_000
NO_REASON = "the peer did not say why"


class BadResponse(ValueError):
    """The text is a sentence without its full stop: what was expected, and what is there."""


class Success(Struct, frozen=True, tag="success"):
    data: Any = None


class Failure(Struct, frozen=True, tag="error"):
    message: str
    permanent: bool = False
    """It would fail again, so it is not tried again."""


Outcome = Success | Failure


class Response(Struct, frozen=True, kw_only=True):
    id: str
    outcome: Outcome
    dialect: Dialect = Dialect.SPEC
    begun: int = 1


def read_response(data: bytes, id: str) -> Response:  # noqa: A002 - as in the contract
    """`id`: the one that the file is named after."""
    fields = document(data, "a response", BadResponse)
    check_name(fields, id, BadResponse)
    for name, dialect, read in _FORMS:
        if name in fields:
            return Response(id=id, outcome=read(fields), dialect=dialect, begun=_begun(fields))
    raise BadResponse("expected status, final_status or success, which say how it went, and there is none of them")


def write_response(
    id: str,  # noqa: A002
    outcome: Outcome,
    dialects: Collection[Dialect] = (Dialect.SPEC,),
    *,
    attempt: int = 1,
    begun: int = 1,
    at: str = "",
) -> bytes:
    """In all of these dialects. `at`: when, in the form of ISO 8601."""
    fields: dict[str, Any] = {"request_id": id}
    if begun > 1:
        fields["troupe"] = {"begun": begun}
    for dialect in dialects:
        fields |= _WORDS[dialect](outcome, attempt, at)
    return msgspec.json.encode(fields)


def _begun(fields: Mapping[str, Any]) -> int:
    ours = fields.get("troupe")
    begun = ours.get("begun") if isinstance(ours, dict) else None
    return begun if type(begun) is int and 1 < begun <= MOST_BEGUN else 1


# -- SPEC


def _read_spec(fields: Mapping[str, Any]) -> Outcome:
    match fields["status"]:
        case "success":
            return Success(fields.get("data"))
        case "error":
            return Failure(_reason(fields.get("error_message")), fields.get("permanent") is True)
        case other:
            raise BadResponse(f"expected status to be success or error, not {_shown(other)}")


def _spec(outcome: Outcome, attempt: int, at: str) -> dict[str, Any]:
    if isinstance(outcome, Success):
        return {"status": "success", "data": outcome.data}
    permanent = {"permanent": True} if outcome.permanent else {}
    return {"status": "error", "error_message": outcome.message, **permanent}


# -- HEAD


def _read_head(fields: Mapping[str, Any]) -> Outcome:
    attempts = fields.get("attempts")
    tried = [each for each in attempts if isinstance(each, dict)] if isinstance(attempts, list) else []
    match fields["final_status"]:
        case "success":
            succeeded = [each for each in tried if each.get("success") is True]
            return Success(succeeded[-1].get("data") if succeeded else None)
        case "failed":
            return Failure(_reason(tried[-1].get("error") if tried else fields.get("error_message")))
        case "error":
            return Failure(_reason(fields.get("error_message")), fields.get("permanent") is True)
        case other:
            raise BadResponse(f"expected final_status to be success, failed or error, not {_shown(other)}")


def _head(outcome: Outcome, attempt: int, at: str) -> dict[str, Any]:
    if isinstance(outcome, Success):
        tried = {"attempt": attempt, "success": True, "data": outcome.data, "timestamp": at}
        return {"final_status": "success", "attempts": [tried]}
    if outcome.permanent:
        return {"final_status": "error", "attempts": [], "error_message": outcome.message, "permanent": True}
    tried = {"attempt": attempt, "success": False, "error": outcome.message, "timestamp": at}
    return {"final_status": "failed", "attempts": [tried]}


# -- PROMPT


def _read_prompt(fields: Mapping[str, Any]) -> Outcome:
    match fields["success"]:
        case True:
            return Success({"content": fields.get("response")})
        case False:
            return Failure(_reason(fields.get("error_message")))
        case other:
            raise BadResponse(f"expected success to be true or false, not {_shown(other)}")


def _prompt(outcome: Outcome, attempt: int, at: str) -> dict[str, Any]:
    if isinstance(outcome, Failure):
        return {"success": False, "response": None, "error_message": outcome.message, "retry_count": attempt - 1}
    data = outcome.data
    content = data.get("content") if isinstance(data, dict) else data
    text = content if isinstance(content, str) else msgspec.json.encode(data).decode()
    return {"success": True, "response": text, "error_message": None, "retry_count": attempt - 1}


_FORMS = (
    ("status", Dialect.SPEC, _read_spec),
    ("final_status", Dialect.HEAD, _read_head),
    ("success", Dialect.PROMPT, _read_prompt),
)
_WORDS = {Dialect.SPEC: _spec, Dialect.HEAD: _head, Dialect.PROMPT: _prompt}


def _reason(given: object) -> str:
    return given if isinstance(given, str) and given else NO_REASON


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 40 else f"{text[:40]}…"
