"""Tells a model's thoughts from its answer where a server does not: between <think> and </think>, before the answer.

    START     nothing but blanks, or a part of <think>, has come    -> THINKING, SAYING
    THINKING  the tag has come; </think> is looked for              -> AFTER
    AFTER     line ends between the thought and the answer          -> SAYING
    SAYING    the answer; tags in it are text

Only what an answer begins with counts, so an answer that is about such tags stays whole. What may be the beginning of a
tag is held back until it is known.
"""

from codec.agent.answering import Tally
from codec.agent.models import Delta

BEGIN, END = "<think>", "</think>"
START, THINKING, AFTER, SAYING = "start", "thinking", "after", "saying"
MOST_BLANKS = 1000
"""Held back at the beginning."""


class Thoughts:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._state = START
        self._held = ""
        """Not said yet. In SAYING: empty."""

    def feed(self, text: str) -> list[Delta]:
        found: list[Delta] = []
        self._held += text
        if self._state == START:
            begun = self._held.lstrip()
            if begun.startswith(BEGIN):
                self._state, self._held = THINKING, begun.removeprefix(BEGIN)
            elif not BEGIN.startswith(begun) or len(self._held) > MOST_BLANKS:
                self._state = SAYING
        if self._state == THINKING:
            thought, tag, rest = self._held.partition(END)
            if tag:
                self._state, self._held = AFTER, rest
            else:
                open_ = next((n for n in range(len(END) - 1, 0, -1) if thought.endswith(END[:n])), 0)
                thought, self._held = thought[: len(thought) - open_], thought[len(thought) - open_ :]
            found += [self._tally.thought(thought)] if thought else []
        if self._state == AFTER:
            self._held = self._held.lstrip("\n")
            self._state = SAYING if self._held else AFTER
        if self._state == SAYING:
            found += self.end()
        return found

    def end(self) -> list[Delta]:
        """What is held back."""
        text, self._held = self._held, ""
        if not text:
            return []
        return [self._tally.thought(text) if self._state == THINKING else self._tally.said(text)]
