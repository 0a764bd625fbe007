"""Turns JSON as Python writes it into strict JSON.

Released clients send bare `NaN` and `Infinity`, which no browser can read, and half a surrogate pair if a script's
string contains one. The former become text, as a viz shows them (where a number is required, text is refused with the
field's name); the latter becomes the replacement character. The standard library reads all of this in linear time, but
slowly. So it is used only when the strict decoder has refused a message that has something to repair, and not too much.
"""

import json
import re

LONGEST = 16 * 1024 * 1024
MOST_SURROGATES = 100_000
CONSTANT = re.compile(rb"NaN|Infinity")
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def repaired(data: bytes) -> bytes | None:
    """The same message as strict JSON; None if it cannot be read, or if that would take too long."""
    if len(data) > LONGEST or not (CONSTANT.search(data) or SURROGATE.search(data)):
        return None
    if data.count(b"\\ud") + data.count(b"\\uD") > MOST_SURROGATES:
        return None
    try:
        message = json.loads(data.decode("utf-8"), parse_constant=str)
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")
