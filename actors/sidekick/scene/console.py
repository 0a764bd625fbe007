"""A console: the last lines of everything that was printed, up to a number of lines and of characters.

It keeps the `tail` of the whole text. The tail of a tail plus new text equals the tail of the whole. So a UI that keeps
the same tail shows the same text, whether it was there from the start or came late.

Prints are gathered as they come and joined to the text only now and then, so a single print costs next to nothing.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar

from actors.sidekick.scene.limits import Budget, Limits
from actors.sidekick.scene.tree import Actions, Component, Hero
from codec.sidekick import Spawn, Update
from codec.sidekick.shapes import AppendText, ClearConsole, ConsoleSpawn, Text

TEXT = 64
"""The cost of a text beside its characters."""
GATHERED = 4_096
"""How many prints may wait to be joined to the text."""


class Console(Component):
    __slots__ = ("characters", "is_as_spawned", "prints", "spent", "text", "width")

    contains = False

    def __init__(self, message: Spawn, budget: Budget, parent: str, hero: Hero = None) -> None:
        super().__init__(message, budget, parent, hero)
        assert isinstance(message.payload, ConsoleSpawn)
        self.text = tail(message.payload.text or "", budget.limits)
        self.prints: list[str] = []
        self.characters = 0
        """The number of characters in `prints`."""
        self.width = width(self.text)
        """Bytes for each character. One wide character makes all characters of the joined text as wide."""
        self.spent = weight(self.text)
        self.is_as_spawned = True

    def append(self, said: Text, message: Update) -> str | None:
        text, budget = said.text, self.budget
        wide = max(self.width, width(text))
        cost = TEXT + wide * len(text) + (wide - self.width) * (len(self.text) + self.characters)
        if cost > budget.left and (wrong := budget.refusal(message, cost)):
            return wrong
        budget.left -= cost
        self.spent += cost
        self.width = wide
        self.prints.append(text)
        self.characters += len(text)
        self.is_as_spawned = False
        if len(self.prints) >= GATHERED or self.characters >= budget.limits.characters:
            self._become(self._tail())
        return None

    def clear(self, _: object, message: Update) -> str | None:
        self._become("")
        self.is_as_spawned = False
        return None

    def _tail(self) -> str:
        return tail("".join((self.text, *self.prints)), self.budget.limits)

    def _become(self, text: str) -> None:
        self.text, self.characters = text, 0
        self.prints.clear()
        self.width = width(text)
        self.budget.left += self.spent - weight(text)
        self.spent = weight(text)

    def changed(self) -> dict[str, Any]:
        return {} if self.is_as_spawned else {"text": self._tail()}

    def frozen(self) -> Iterable[bytes]:
        twin = copy(self)
        twin.prints, twin.unknown = self.prints[:], self.unknown[:]
        return twin.frames()

    def held(self) -> int:
        return self.spent

    actions: ClassVar[Actions] = {AppendText: append, ClearConsole: clear}


def width(text: str) -> int:
    return 1 if text.isascii() else 4


def weight(text: str) -> int:
    return TEXT + width(text) * len(text)


def tail(text: str, limits: Limits) -> str:
    """The end of a text, as much of it as the limits allow."""
    text = text[-limits.characters :]
    excess = text.count("\n") - limits.lines
    return text if excess <= 0 else text.split("\n", excess)[-1]
