"""Labels, buttons, markdowns and textboxes: components whose state is given by the last message of each action.

That message is kept as it came. So the state needs no field names of its own, and unknown fields survive with it.
"""

from collections.abc import Iterator
from typing import ClassVar

from actors.sidekick.scene.limits import Budget
from actors.sidekick.scene.tree import Actions, Component, Hero
from codec.sidekick import Spawn, Update
from codec.sidekick.shapes import SetPlaceholder, SetSource, SetText, SetValue

SAYING = 150
"""The cost of a retained message beside its bytes."""


class Texts(Component):
    __slots__ = ("latest",)

    contains = False

    def __init__(self, message: Spawn, budget: Budget, parent: str, hero: Hero = None) -> None:
        super().__init__(message, budget, parent, hero)
        self.latest: dict[str, bytes] = {}

    def say(self, _: object, message: Update) -> str | None:
        action, raw = message.action, message.raw
        before = self.latest.get(action)
        cost = len(raw) + SAYING if before is None else len(raw) - len(before)
        if cost > 0 and cost > self.budget.left and (wrong := self.budget.refusal(message, cost)):
            return wrong
        self.budget.left -= cost
        self.latest[action] = raw
        return None

    def updates(self) -> Iterator[bytes]:
        return iter(self.latest.values())

    def held(self) -> int:
        return sum(map(len, self.latest.values())) + SAYING * len(self.latest)

    actions: ClassVar[Actions] = dict.fromkeys((SetText, SetSource, SetValue, SetPlaceholder), say)
