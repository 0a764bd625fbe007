"""A verdict: whether the agent may do what it wants to, and which rule says so.

`rule` names the policy's field and, where one decides, its entry: "blocked_commands rm -rf", "mode plan". `reason` is a
sentence for the user and for the model. What each rule means, for a page, is in rules.py.
"""

from typing import Literal

from msgspec import Struct

from codec.agent.sessions import SessionMode

Mode = SessionMode
Decision = Literal["deny", "ask", "allow"]


class Verdict(Struct, frozen=True):
    decision: Decision
    rule: str
    reason: str


class ChangeWish(Struct, frozen=True, kw_only=True):
    """A change of one file that the agent wants to make."""

    path: str
    action: Literal["create", "modify", "delete"] = "modify"
    changed_lines: int = 0
    """Added and removed ones together."""
    tool_name: str = "propose_diff"


def shown(text: str, most: int = 100) -> str:
    """In quotes, and so that it is seen for what it is: what does not print is written as an escape."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return '"' + "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut) + '"'
