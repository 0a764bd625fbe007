"""A request, as it stands in `requests/ID.json`.

    SPEC, HEAD   {"request_id": ID, "command": NAME, "params": {...}}, and if need be {"troupe": {...}}
    PROMPT       {"request_id": ID, "prompt": TEXT, "model"?, "mode"?, "timeout"?, "timestamp"?}

Real peers speak three dialects. The first two ask in the same words, and differ in their answers (response.py): such a
request is read as SPEC, and a setting says which of the two is meant. The third knows a single command, which is
`submitPrompt` here.

Rules
  - Reading is total: any bytes are a Request, or BadRequest with a sentence that says what is wrong.
  - The `troupe` object is ours, and foreign peers ignore it. What is wrong in it is wrong, not ignored.
"""

import enum
import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from codec.decoding import fault
from codec.ipc.ids import LONGEST

LONGEST_COMMAND = 200
SUBMIT_PROMPT = "submitPrompt"
_PROMPT_PARAMS = ("prompt", "model", "mode", "timeout")
_BOM = b"\xef\xbb\xbf"


class Dialect(enum.Enum):
    SPEC = "spec"
    HEAD = "head"
    PROMPT = "prompt"


class BadRequest(ValueError):
    """The text is a sentence without its full stop: what was expected, and what is there."""


Moment = Annotated[float, Meta(ge=-62_135_596_800.0, lt=253_402_300_800.0)]
"""Seconds since 1970, in the years 1 to 9999. So milliseconds are not taken for a moment that never comes."""


class Wishes(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a submitter wants beyond the contract."""

    submitter: Annotated[str, Meta(max_length=100)] = ""
    """Whose turn it is: submitters take turns, however many requests each has."""
    priority: Annotated[int, Meta(ge=-100, le=100)] = 0
    """Of the same submitter's requests, the higher goes first."""
    not_before: Moment | None = None
    deadline: Moment | None = None
    """A request that nobody has begun by then fails."""
    reference: str | None = None
    """What a good answer says; for the evaluation."""


class Request(Struct, frozen=True, kw_only=True, dict=True):
    id: str
    command: str
    params: dict[str, Any] = {}
    wishes: Wishes = Wishes()
    dialect: Dialect = Dialect.SPEC

    @property
    def reference(self) -> str | None:
        """The contract's evaluation looks into the parameters."""
        if self.wishes.reference is not None:
            return self.wishes.reference
        expected = self.params.get("expected_response")
        return expected if isinstance(expected, str) else None

    @cached_property  # each step of a command asks for it
    def fingerprint(self) -> bytes:
        """The same for two requests that ask for the same, however their files are written."""
        asked = [self.command, self.params, msgspec.to_builtins(self.wishes)]
        return hashlib.sha256(_sorted.encode(asked)).digest()

    def asks_the_same(self, other: "Request") -> bool:
        """Whatever either wishes beyond the contract: who submits it, when, and how urgently."""
        return self._asked == other._asked

    @property
    def essence(self) -> bytes:
        """The same for all that ask the same."""
        return hashlib.sha256(self._asked).digest()

    @property
    def _asked(self) -> bytes:
        return _sorted.encode([self.command, self.params])


_sorted = msgspec.json.Encoder(order="sorted")


def read_request(data: bytes, id: str) -> Request:  # noqa: A002 - as in the contract
    """`id`: the one that the file is named after."""
    fields = document(data, "a request", BadRequest)
    check_name(fields, id, BadRequest)
    wishes = _wishes(fields.get("troupe"))
    if "command" not in fields and isinstance(fields.get("prompt"), str):
        params = {name: fields[name] for name in _PROMPT_PARAMS if name in fields}
        return Request(id=id, command=SUBMIT_PROMPT, params=params, wishes=wishes, dialect=Dialect.PROMPT)
    command, params = fields.get("command"), fields.get("params", {})
    if not isinstance(command, str) or not command:
        raise BadRequest(f"expected command, the name of what is to be done, but it is {kind_of(fields, 'command')}")
    if len(command) > LONGEST_COMMAND:
        raise BadRequest(f"a command has at most {LONGEST_COMMAND} characters; this one has {len(command):,}")
    if not isinstance(params, dict):
        raise BadRequest(f"expected params to be an object, but it is {kind_of(fields, 'params')}")
    return Request(id=id, command=command, params=params, wishes=wishes)


def write_request(request: Request) -> bytes:
    """In the words that SPEC and HEAD share."""
    fields: dict[str, Any] = {"request_id": request.id, "command": request.command, "params": request.params}
    if request.wishes != Wishes():
        fields["troupe"] = request.wishes
    return msgspec.json.encode(fields)


def document(data: bytes, what: str, error: type[ValueError]) -> Mapping[str, Any]:
    """The JSON object that these bytes are; `error` if they are none."""
    try:
        fields = msgspec.json.decode(data.removeprefix(_BOM))
    except msgspec.DecodeError as wrong:
        raise error(f"{what} is a JSON object, and this is not JSON: {fault(wrong)}") from None
    except (ValueError, RecursionError) as wrong:
        reason = "it is nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)
        raise error(f"{what} is a JSON object, and this cannot be read: {reason}") from None
    if not isinstance(fields, dict):
        raise error(f"{what} is a JSON object, and this is {_kind(fields)}")
    return fields


def check_name(fields: Mapping[str, Any], id: str, error: type[ValueError]) -> None:  # noqa: A002
    given = fields.get("request_id")
    if given != id:
        found = repr(given[:LONGEST]) if isinstance(given, str) else kind_of(fields, "request_id")
        raise error(f"expected request_id to be {id!r}, as the file is named, but it is {found}")


def kind_of(fields: Mapping[str, Any], name: str) -> str:
    return _kind(fields[name]) if name in fields else "missing"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case "":
            return "an empty text"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case _:
            return "an object"


def _wishes(given: object) -> Wishes:
    if given is None:
        return Wishes()
    try:
        return msgspec.convert(given, Wishes)
    except msgspec.ValidationError as wrong:
        raise BadRequest(f"the troupe object is not right: {fault(wrong)}") from None
