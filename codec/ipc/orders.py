"""What scripts and the page order by HTTP, read with a sentence for every mistake."""

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from codec.decoding import fault
from codec.ipc.desk import MOST_SHOWN, EditorOrder, EditorWanted, Selection, Wanted, WindowWanted
from codec.ipc.ids import BadId, checked
from codec.ipc.request import LONGEST_COMMAND, Request, Wishes

MOST_SUBMITTED = 10_000
"""Requests in one POST."""

T = TypeVar("T")


class BadOrder(ValueError):
    """The text is a sentence without its full stop: what was expected, and what is there."""


class TooMuchOrdered(BadOrder):
    """It may be right, and is too much at once."""


class Submission(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(min_length=1, max_length=LONGEST_COMMAND)]
    id: str = ""
    """Empty: one is chosen for it."""
    params: dict[str, Any] = {}
    troupe: Wishes = Wishes()


class _Submitted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    requests: list[Submission]


_submissions = msgspec.json.Decoder(_Submitted)
_selection = msgspec.json.Decoder(Selection)
_editor = msgspec.json.Decoder(EditorWanted)
_wanted: msgspec.json.Decoder[Wanted] = msgspec.json.Decoder(Wanted)


def read_submissions(data: bytes, new_id: Callable[[], str]) -> list[Request]:
    requests = _read(_submissions, data).requests
    if not requests:
        raise BadOrder("expected at least one request in `requests`, and there is none")
    if len(requests) > MOST_SUBMITTED:
        raise TooMuchOrdered(
            f"at most {MOST_SUBMITTED:,} requests can be submitted at once, and these are {len(requests):,}; "
            "send them in several parts"
        )
    read: dict[str, Request] = {}
    for number, each in enumerate(requests, 1):
        try:
            id = checked(each.id) if each.id else new_id()  # noqa: A001 - as in the contract
        except BadId as error:
            raise BadOrder(f"request {number} of {len(requests)} cannot be taken: {error}") from None
        request = Request(id=id, command=each.command, params=each.params, wishes=each.troupe)
        if id in read and read[id] != request:
            raise BadOrder(f"two requests of these have the id {id!r}, and they ask for different things")
        read[id] = request
    return list(read.values())


def read_selection(data: bytes) -> Selection:
    selection = _read(_selection, data)
    if not (selection.ids or selection.all or selection.match or selection.older_than is not None):
        raise BadOrder("expected to be told which requests are meant: by ids, match, older_than, or all: true")
    for id in selection.ids:  # noqa: A001 - as in the contract
        try:
            checked(id)
        except BadId as wrong:
            raise BadOrder(str(wrong)) from None
    return selection


def read_editor_order(data: bytes) -> EditorOrder:
    return _read(_editor, data).order


def read_wanted(text: str | bytes) -> Wanted:
    """What a page wants to be shown."""
    return _read(_wanted, text)


def read_window(fields: dict[str, list[str]]) -> WindowWanted:
    """From a query: state (several times, or with commas), text, order, after, limit."""
    unknown = sorted(fields.keys() - {"state", "text", "order", "after", "limit"})
    if unknown:
        raise BadOrder(f"{unknown[0]!r} is not known here; expected state, text, order, after or limit")
    last = {name: values[-1] for name, values in fields.items() if values}
    states = [state.strip() for value in fields.get("state", []) for state in value.split(",") if state.strip()]
    limit = last.get("limit", "100")
    if not limit.isascii() or not limit.isdigit() or int(limit[:9]) > MOST_SHOWN:
        raise BadOrder(f"expected limit to be a number from 0 to {MOST_SHOWN}, not {limit[:40]!r}")
    after = last.get("after", "")
    wanted = {
        "type": "window",
        "count": int(limit[:9]),
        "states": [state.replace("_", " ").replace("gave-up", "gave up") for state in states],
        "text": last.get("text", ""),
        "order": last.get("order", "newest"),
        "at": after,
        "above": -1 if after else 0,
    }
    try:
        return msgspec.convert(wanted, WindowWanted)
    except msgspec.ValidationError as wrong:
        raise BadOrder(_as_asked(fault(wrong))) from None


def _as_asked(said: str) -> str:
    """In a query some fields have other names."""
    return re.sub(r"^expected states\[\d+\] ", "expected state ", said).replace("expected at ", "expected after ", 1)


def _read(decoder: msgspec.json.Decoder[T], data: bytes | str) -> T:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as wrong:
        raise BadOrder(fault(wrong)) from None
    except msgspec.DecodeError as wrong:
        raise BadOrder(f"expected JSON, and this is none: {fault(wrong)}") from None
    except UnicodeDecodeError:
        raise BadOrder("expected JSON in UTF-8, and this is no UTF-8") from None
    except RecursionError:
        raise BadOrder("expected JSON, and this is nested too deeply") from None
