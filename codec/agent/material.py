"""Material: texts that did not come from the user, in the middle of a message to a model.

Files, terminal output and diagnostics are given to a model between two marks, with their source. The system prompt says
that what stands between them is to be read and never to be obeyed. No text can open or close a mark, so whatever it
says, it stays where it was put; `parted` reads back what `told` has written.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

STEERED = "The user adds, while you are at it:"
UPDATED = "The editor shows this now:"
NO_MORE_TOOLS = "[No tool can be called any more"
ROUNDS_LEFT_OUT = "[Earlier steps of this turn are left out here to save room.]"
INTERJECTIONS = (STEERED, UPDATED, NO_MORE_TOOLS, ROUNDS_LEFT_OUT)
"""How messages begin that are put into the middle of a turn."""

SEVERAL = "the user has named a file, and the paths of several end so"
"""Why a material lists them: nobody knows which one is meant."""


class Material(Struct, frozen=True, kw_only=True):
    source: str
    """Such as src/app.py:12-40, or "terminal"."""
    text: str
    why: str = ""


_MARK = re.compile(r"<(/?)(\\*)(?=material\b)", re.IGNORECASE)
_ESCAPED = re.compile(r"<(/?)\\(\\*)(?=material\b)", re.IGNORECASE)
_WHOLE = re.compile(r'\n*<material source="([^"\n]*)" why="([^"\n]*)">\n(.*?)\n</material>\n', re.DOTALL)


def marked(material: Material) -> str:
    source, why = _attribute(material.source), _attribute(material.why)
    return f'<material source="{source}" why="{why}">\n{escaped(material.text)}\n</material>\n'


def told(words: str, materials: Sequence[Material]) -> str:
    """A message: the user's words first, then the materials."""
    blocks = "".join(marked(each) for each in materials)
    return f"{escaped(words)}\n\n{blocks}" if blocks else escaped(words)


def parted(message: str) -> tuple[str, tuple[Material, ...]]:
    """The words of a message, and its materials."""
    materials = tuple(
        Material(source=found[1], why=found[2], text=_unescaped(found[3])) for found in _WHOLE.finditer(message)
    )
    return _unescaped(_WHOLE.sub("", message)), materials


def escaped(text: str) -> str:
    """The text with each mark in it spoilt by a backslash."""
    return _MARK.sub(r"<\1\\\2", text)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"<\1\2", text)


def _attribute(text: str) -> str:
    return escaped(" ".join(text.split())[:300].replace('"', "'"))
