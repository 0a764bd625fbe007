"""The places that a name or a path in a question means: the file that is called so, or the place where the name is
defined.

Lines are enough to see that, and no grammar is asked: it is for files that the index has not read yet. A line that is
taken for a definition and is none does no more harm than a wrong order.
"""

import re
from collections.abc import Iterable
from functools import cached_property
from posixpath import basename, splitext

from msgspec import Struct

from codec.agent.index.question import question_of
from codec.agent.keywords import last_part

_WORD = (
    "def|class|function|func|fn|interface|type|struct|enum|trait|impl|module|namespace|const|let|var|val|export|default"
    "|async|static|public|private|protected|abstract|final|pub|sub|macro|union|object|record"
)
_NO_TYPE = "return|await|new|throw|else|yield|case|in|not|and|or|if|raise|assert|del|print|import|from|elif|while|with"


class MeantPlaces(Struct, frozen=True, dict=True):
    names: tuple[str, ...] = ()
    """Lowercase."""
    paths: tuple[str, ...] = ()
    """Lowercase: whole, or from some folder on."""
    stem: str = ""
    """Lowercase: the only word there is, which may be a file's name without its ending."""

    def __bool__(self) -> bool:
        return bool(self.names or self.paths)

    def is_path(self, path: str) -> bool:
        low = path.lower()
        return any(low == each or low.endswith(f"/{each}") for each in self.paths)

    def is_called_so(self, path: str) -> bool:
        return bool(self.stem) and splitext(basename(path.lower()))[0] == self.stem

    def is_symbol(self, symbol: str) -> bool:
        return bool(symbol) and last_part(symbol).lower() in self.names

    def distance(self, path: str, lines: Iterable[str], definition: str = "") -> int:
        """0: it is what is meant. 1: a file that is called so. 2: neither. `definition`: a name that is known to be
        defined there."""
        if self.is_symbol(definition) or self.is_path(path) or any(map(self.defined_in, lines)):
            return 0
        return 1 if self.is_called_so(path) else 2

    def defined_in(self, line: str) -> str:
        """The name that this line defines, as it is written there."""
        if self._definition is None or (found := self._definition.search(line)) is None:
            return ""
        return next(filter(None, found.groups()), "")

    @cached_property
    def _definition(self) -> re.Pattern[str] | None:
        if not self.names:
            return None
        name = "(" + "|".join(map(re.escape, self.names)) + r")(?!\w)"
        return re.compile(
            rf"(?i)(?<!\w)(?:(?:{_WORD})\s+)+(?:\([^()]{{0,80}}\)\s*)?(?:\w+(?:\.|::))*[*&]?{name}"
            rf"|^{name}\s*(?::[^=]{{0,80}})?=(?!=)"
            rf"|^\s{{0,12}}(?!(?:{_NO_TYPE})\b)(?:[\w<>\[\],*&:]{{1,60}}\s+){{1,4}}[*&]*(?:\w+::)?{name}\s*\([^;]*$"
        )


def meant_by(text: str) -> MeantPlaces:
    """Nothing, if the question has words alone."""
    question = question_of(text)
    names = [name.name for name in question.names if name.certain]
    stem = ""
    if question.sole:
        names, stem = [last_part(question.sole)], question.sole.lower()
    paths = tuple(path.lower() for path in question.paths)
    return MeantPlaces(tuple(dict.fromkeys(name.lower() for name in names)), paths, stem)
