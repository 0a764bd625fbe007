"""How much one message may hold, whatever its length: what is decoded becomes objects, and 32 MiB of `[],` would become
a gigabyte of them, in seconds during which nobody else is served.

Values are told by what stands before each: a comma or a bracket, outside strings. A message that is short has few. One
that is long is counted as it is, then, if that is too many, without its strings, which may hold as many commas as they
like. Nothing is decoded for that.
"""

MOST_VALUES = 2_000_000
"""The largest list that a released client shows, at the largest length of a message, has 1.8 million."""
LONGEST_NAME = 1_000
"""Characters of an id, a component or a type."""
LONGEST_ANNOUNCE = 16 * 1024
"""Bytes. It is kept, and told to everyone who comes."""

_BEFORE_VALUES = (b",", b"[", b"{")


def is_too_much(data: bytes) -> bool:
    if len(data) <= MOST_VALUES or _values(data) <= MOST_VALUES:
        return False
    data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if data.count(b'"') > 2 * MOST_VALUES:
        return True
    return _values(b"".join(data.split(b'"')[::2])) > MOST_VALUES


def _values(data: bytes) -> int:
    return sum(map(data.count, _BEFORE_VALUES))
