"""The five dialects of Sidekick, and how a peer's first message tells them apart.

    A   spec v1: `module`/`method`, flat payloads in snake_case; never announces; feedback is `notify`
    B   never released: `module`/`method`, `action`/`options` in camelCase; announces; feedback is `notify`
    C   sidekick-py 0.0.1 to 0.0.6: `module`/`type`, at first B's payloads, later D's; feedback is `event`
    D   spec v2: `component`/`type`
    E   sidekick-py 0.0.7, webapp 0.0.8: D, but a markdown has a `text` and a textbox a `value`

D and E differ in a few words only, so a peer counts as D until it announces a released version or uses a word of E.
"""

import re
from enum import Enum

import msgspec

from codec.sidekick.repair import repaired
from codec.sidekick.weight import is_too_much


class Dialect(Enum):
    A = "A"
    B = "B"
    C = "C"
    D = "D"
    E = "E"


Release = tuple[int, int, int]
KEYS: dict[Dialect, tuple[str, str]] = {
    Dialect.A: ("module", "method"),
    Dialect.B: ("module", "method"),
    Dialect.C: ("module", "type"),
    Dialect.D: ("component", "type"),
    Dialect.E: ("component", "type"),
}
"""The names of the component and the type in each dialect's envelope."""

LINES_UNTIL: Release = (0, 0, 2)
"""Up to this release of C, and in the dialects before C, each text for a console is a line of its own."""
OLD_CANVAS_UNTIL: Release = (0, 0, 4)
"""Up to this release of C, and in the dialects before C, a canvas has a pen, and its commands have no styles."""
E_SINCE: Release = (0, 0, 7)

B_ONLY = frozenset(("action", "numColumns", "showInput", "controlId"))
RELEASE = re.compile(r"\s*v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?!\d)")


def release(version: str) -> Release | None:
    """The first three numbers of a version; None if the text does not look like a version."""
    match = RELEASE.match(version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def is_released_e(version: str) -> bool:
    """Whether a peer with a D envelope and this version is a released one. Released versions begin at 0.0.7."""
    number = release(version)
    return number is not None and number >= E_SINCE and number[:2] == (0, 0)


def dialect_of(data: bytes) -> Dialect | None:
    """The dialect of a peer with this first message; None if it is in none of them."""
    if is_too_much(data):
        return None
    try:
        try:
            message = msgspec.json.decode(data)
        except msgspec.DecodeError:
            message = msgspec.json.decode(repaired(data) or b"null")
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return None
    if not isinstance(message, dict):
        return None
    payload = message.get("payload")
    fields = payload if isinstance(payload, dict) else {}
    if isinstance(message.get("component"), str):
        version = fields.get("version")
        announced_e = message.get("type") == "announce" and isinstance(version, str) and is_released_e(version)
        return Dialect.E if announced_e else Dialect.D
    if not isinstance(message.get("module"), str):
        return None
    if isinstance(message.get("method"), str):
        return Dialect.B if message["method"] in ("announce", "clearAll") or B_ONLY & fields.keys() else Dialect.A
    return Dialect.C if isinstance(message.get("type"), str) else None
