"""Where in a file certain lines stand, one after the other.

Each line that a patch speaks of becomes a character, and any other line of the file NUL. So a run of lines is a word
in a text, and finding it is the work of `str.find`, which is linear. A patch with very many hunks that fit nowhere
would still be slow, so all searches of one patch have a budget.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from codec.agent.patches.patch import PatchRefused

BUDGET = 300_000_000
"""Lines that are looked at for one patch."""
MOST_PLACES = 100
"""How many are counted."""
MOST_LINES = 0x10FFFF
"""Different ones that a patch speaks of: so many characters there are beside NUL."""
RARE = 3
"""A line that the file has so often at most tells something about the place where it stands."""


class LinePlaces:
    def __init__(self, file: Sequence[str], asked: Iterable[str], budget: int = BUDGET) -> None:
        numbers: dict[str, str] = {}
        for line in asked:
            if line not in numbers:
                if len(numbers) == MOST_LINES:
                    raise PatchRefused("The patch has too many lines. Send it in parts.")
                numbers[line] = chr(len(numbers) + 1)
        self._numbers = numbers
        self._file = "".join([numbers.get(line, "\0") for line in file])
        self._known: dict[str, list[int]] = {}
        self._rare: dict[str, list[int]] | None = None
        self._budget = budget

    def word(self, lines: Sequence[str]) -> str:
        return "".join([self._numbers[line] for line in lines])

    def fits(self, word: str, at: int) -> bool:
        return 0 <= at <= len(self._file) - len(word) and self._file.startswith(word, at)

    def places(self, word: str) -> Sequence[int]:
        """Up to MOST_PLACES and one more. Raises PatchRefused when the budget is spent."""
        known = self._known.get(word)
        if known is not None:
            return known
        found: list[int] = []
        at = self._file.find(word)
        while at >= 0 and len(found) <= MOST_PLACES:
            found.append(at)
            self._budget -= len(word)
            at = self._file.find(word, at + 1)
        self._budget -= len(self._file) + 100
        if self._budget < 0:
            raise PatchRefused(
                "The patch has too many hunks that are not where they say. Read the file again, and send fewer at once."
            )
        self._known[word] = found
        return found

    def rare_places(self, word: str) -> Iterator[int]:
        """Where the word would begin if one of its lines stood where the file has it; of lines that are rare there."""
        if self._rare is None:
            seldom = {char for char, count in Counter(self._file).items() if count <= RARE and char != "\0"}
            self._rare = {}
            for place, char in enumerate(self._file):
                if char in seldom:
                    self._rare.setdefault(char, []).append(place)
        for number, char in enumerate(word):
            for place in self._rare.get(char, ()):
                yield place - number

    def alike(self, word: str, at: int) -> Sequence[int]:
        """Which of the lines stand where they would, if the word began here."""
        file = self._file
        return [
            number for number, char in enumerate(word) if 0 <= at + number < len(file) and file[at + number] == char
        ]


def loosened(line: str) -> str:
    """The line but for its white space."""
    return " ".join(line.split())
