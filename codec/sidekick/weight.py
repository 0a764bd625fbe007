"""Limits the number of values in one message. Decoding turns values into objects: 32 MiB of `[],` would become a
gigabyte of them, and nobody else would be served for seconds.

Before each value stands a comma or a bracket, outside strings. A short message has few values. In a long message these
characters are counted; if there are too many, they are counted again without its strings, which may contain any number
of commas. Nothing is decoded for this.
"""

MOST_VALUES = 2_000_000
"""The largest list that a released client shows, at the largest length of a message, has 1.8 million."""
LONGEST_NAME = 1_000
"""Characters of an id, a component or a type."""
LONGEST_ANNOUNCE = 16 * 1024
"""Bytes. An announce is kept, and sent to every peer that joins."""

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
