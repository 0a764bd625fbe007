"""What is said of a patch: the change of one file, how applying it ended, and why it cannot be read or applied.

A patch is kept as its hunks (DiffHunk), whose content is the body as a diff has it: each line with its sign, \\n, and
the mark of a missing newline. So what stands in a session's log can be applied later without its diff.
"""

from typing import Literal

from msgspec import Struct

from codec.agent.action_events import DiffHunk, HunkOutcome


class PatchUnreadable(Exception):
    """It is no diff that we can apply. The text is a sentence for the model: what is wrong, and what to write."""


class PatchRefused(Exception):
    """It is not certain what would have to be changed. The text is a sentence for the model."""


class FilePatch(Struct, frozen=True, kw_only=True):
    path: str
    """As the diff has it, without a/ and b/; whoever opens it checks it."""
    action: Literal["create", "modify", "delete"] = "modify"
    hunks: tuple[DiffHunk, ...] = ()
    mode: int | None = None
    """The permission bits that the diff gives to the file. None: it says nothing, or the usual."""


class Applied(Struct, frozen=True):
    data: bytes | None
    """The file after all hunks that could be applied. None: it is deleted, or there was none and is none."""
    outcomes: tuple[HunkOutcome, ...]
    """One for each hunk, in their order; one at least, if the whole patch is refused."""

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why hunks were refused; empty: none was."""
        return tuple(each.reason for each in self.outcomes if each.outcome == "refused")


class MadeDiff(Struct, frozen=True, kw_only=True):
    diff: str
    hunks: tuple[DiffHunk, ...] = ()
    added: int = 0
    removed: int = 0
    exact: bool = True
    """Whether applying it to the file before gives the file after, byte for byte. It does not if one of them is no
    text, or if the encoding changes: then only the whole file can be written."""
