"""JSON as Python writes it, made JSON.

Released clients send `NaN` and `Infinity` bare, which no browser can read, and half a surrogate pair where a script's
string has one. The first become text, which is how a viz shows them (where a number is required, text is refused by
name); the second becomes the replacement character. The standard library reads all of that in linear time; it is slow,
and only asked when the strict decoder has refused.
"""

import json


def repaired(data: bytes) -> bytes | None:
    """The same message as strict JSON; None if there is no telling what it says."""
    try:
        message = json.loads(data.decode("utf-8"), parse_constant=str)
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")
