"""A hunk's body, line by line."""

from dataclasses import dataclass
from functools import cached_property

from codec.agent.action_events import DiffHunk


@dataclass(frozen=True)
class HunkLines:
    signs: str
    """A space, - or + for each line."""
    texts: list[str]
    ends: list[str]
    """\\n or \\r\\n; empty: the diff says that there is no newline."""
    start: int | None
    """The place in the old file that the header gives, counted from 0. None: it gives none."""
    new_start: int | None

    @cached_property
    def old(self) -> list[str]:
        return [text for sign, text in zip(self.signs, self.texts, strict=True) if sign != "+"]

    @cached_property
    def new(self) -> list[str]:
        return [text for sign, text in zip(self.signs, self.texts, strict=True) if sign != "-"]

    @property
    def old_ends(self) -> list[str]:
        return [end for sign, end in zip(self.signs, self.ends, strict=True) if sign != "+"]

    @property
    def added(self) -> list[str]:
        return [text for sign, text in zip(self.signs, self.texts, strict=True) if sign == "+"]

    @property
    def removed(self) -> list[str]:
        return [text for sign, text in zip(self.signs, self.texts, strict=True) if sign == "-"]

    @property
    def leading(self) -> int:
        """Lines of context before the first change."""
        return len(self.signs) - len(self.signs.lstrip(" "))

    @property
    def trailing(self) -> int:
        return len(self.signs) - len(self.signs.rstrip(" "))

    @property
    def is_marked(self) -> bool:
        return "" in self.ends


def hunk_lines(hunk: DiffHunk) -> HunkLines:
    signs: list[str] = []
    texts: list[str] = []
    ends: list[str] = []
    for line in hunk.content.removesuffix("\n").split("\n") if hunk.content else ():
        sign, text = (line[0], line[1:]) if line else (" ", "")
        if sign == "\\":
            if ends:
                texts[-1] += ends[-1].removesuffix("\n")  # a \r before no newline is text
                ends[-1] = ""
            continue
        if text.endswith("\r"):
            text, end = text[:-1], "\r\n"
        else:
            end = "\n"
        signs.append(sign if sign in "+-" else " ")
        texts.append(text)
        ends.append(end)
    has_old = any(sign != "+" for sign in signs)
    start = (hunk.old_start - 1 if has_old else hunk.old_start) if hunk.old_start or not has_old else None
    new_start = hunk.new_start - 1 if hunk.new_start else None  # of lines that it adds; without any nobody asks
    return HunkLines("".join(signs), texts, ends, start, new_start)
