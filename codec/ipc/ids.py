"""A request's id, and the name of the file that it stands in.

An id becomes a file's name on every system that Troupe, or a peer, may run on. So it holds no separator, no blank and
nothing that a shell or Windows reads as something else.
"""

import re
from collections.abc import Iterable

LONGEST = 128
SUFFIX = ".json"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
"""Windows opens these in place of a file, whatever stands after a full stop."""


class BadId(ValueError):
    """The text says what is wrong, and what an id may be."""


def checked(id: str) -> str:  # noqa: A002 - as in the contract
    """The id itself. Raises BadId."""
    if not id:
        raise BadId("an id must not be empty")
    if len(id) > LONGEST:
        raise BadId(f"an id has at most {LONGEST} characters; this one has {len(id):,}")
    if not _ID.fullmatch(id):
        raise BadId(
            f"{id!r} is no id: one begins with a letter or a digit of ASCII, and goes on with these, '_', '.' and '-'"
        )
    if id.endswith("."):
        raise BadId(f"{id!r} is no id: one does not end with a full stop, which Windows would drop")
    if id.partition(".")[0].lower() in _DEVICES:
        raise BadId(f"{id!r} is no id: Windows takes it for a device")
    return id


def is_id(id: str) -> bool:  # noqa: A002
    try:
        checked(id)
    except BadId:
        return False
    return True


def file_of(id: str) -> str:  # noqa: A002
    return f"{checked(id)}{SUFFIX}"


def id_of(name: str) -> str | None:
    """The id that a file is named after; None if it is named after none."""
    if not name.endswith(SUFFIX):
        return None
    try:
        return checked(name.removesuffix(SUFFIX))
    except BadId:
        return None


def in_turn(ids: Iterable[str]) -> list[str]:
    """In the order in which they were probably made: ids that end in a count, and those that begin with the time, stand
    in theirs. An end that finds many at once takes them in this order, so that both ends work at the same ones."""
    return sorted(sorted(ids), key=len)
