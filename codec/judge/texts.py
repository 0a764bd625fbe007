"""Makes text of a case's files that can be written to a file and sent to a page, and says what they are known by.

Half a surrogate pair is legal in JSON and in Python, but not in a file or on a WebSocket. Here, at the border, it
becomes the replacement character, so the code further in need not think of it.
"""

import codecs
import hashlib
from typing import Any, NamedTuple

SHOWN = 16_384
"""Bytes of an input, an output or an expected output that a page is sent."""


class Excerpt(NamedTuple):
    """The beginning of a text."""

    text: str
    size: int
    """Bytes of the whole."""
    cut: bool


def excerpt(data: bytes, limit: int = SHOWN, size: int | None = None) -> Excerpt:
    """The first `limit` bytes of `data` as text, whole characters only. `size` is the whole's, if `data` is a part."""
    size = len(data) if size is None else size
    cut = size > limit or size > len(data)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return Excerpt(decoder.decode(data[:limit], final=not cut), size, cut)


def whole(text: str) -> str:
    """The text with every half of a surrogate pair replaced, and halves that belong together joined."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def wholly(value: Any) -> Any:
    """`whole` for every text inside a JSON value."""
    match value:
        case str():
            return whole(value)
        case list():
            return [wholly(item) for item in value]
        case dict():
            return {wholly(key): wholly(item) for key, item in value.items()}
    return value


def fingerprint(content: bytes = b"") -> "hashlib._Hash":
    """What a case's file is known by, so that a problem which is sent again adds nothing. Can be updated with what
    follows; its `digest()` names the whole."""
    return hashlib.sha256(content)
