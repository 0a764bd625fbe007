"""The tree of components.

Rules
  - A component is in exactly one container; the board itself is the container `root`. Children keep their order.
  - `changeParent` moves to the end, or before the sibling named by `insertBefore`; never into the component itself.
  - Removing a component removes everything in it.
  - An unknown component may contain others, because a newer protocol may have a new kind of container; nobody would put
    something into a new kind of leaf.
  - The spawn is kept as it came, with unknown fields, and is written anew only if the component has moved.

Children are the keys of a dict, in its order: adding or removing one takes constant time; only `insertBefore` does not.
Nothing here recurses, so a limit decides how deep a tree may be, and not the stack.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import msgspec

from actors.sidekick.scene.limits import Budget
from codec.sidekick import ROOT, Other, Spawn, Update

Actions = dict[type, Callable[[Any, Any, Update], str | None]]
"""What a payload of each type does to a component, given its options and the message: None when done, else why not."""
Hero = object
"""Whoever speaks to the scene: anything that can be a key."""

COMPONENT = 1_000
"""What a component costs beside its spawn."""
UNKNOWN = 64
"""What a retained message that we do not understand costs beside its bytes."""
DEEPEST = 100
"""How deep a retained message that may have to be written anew can be nested."""

Fields = dict[str, msgspec.Raw]
fields_of = msgspec.json.Decoder(Fields).decode
some_fields_of = msgspec.json.Decoder(Fields | None).decode
anything = msgspec.json.Decoder().decode
write = msgspec.json.Encoder().encode


class Component:
    """One component, its place, and what its state costs. The base of all kinds, and itself every kind without a
    state of its own: containers, and what we do not know."""

    __slots__ = (
        "budget", "children", "hero", "kind", "outsiders", "parent", "spawn", "spawned_in", "target", "unknown",
    )  # fmt: skip

    actions: ClassVar[Actions] = {}
    contains = True

    def __init__(self, message: Spawn | Other, budget: Budget, parent: str, hero: Hero = None) -> None:
        self.kind = message.component
        self.target = message.target or ROOT
        self.spawn = message.raw
        self.spawned_in = parent
        self.budget = budget
        self.hero = hero
        self.parent: Component | None = None
        self.children: dict[str, Component] = {}
        self.unknown: list[bytes] = []
        self.outsiders: frozenset[Hero] = frozenset()
        """Heroes who wanted this id for a component of their own, and may not write on this one."""

    # --- to be said by each kind ------------------------------------------------------------------------------------

    def fault(self) -> str | None:
        """What is wrong with the spawn; None if nothing is."""
        return None

    def changed(self) -> dict[str, Any]:
        """The fields of the spawn's payload that would be others now."""
        return {}

    def updates(self) -> Iterator[bytes]:
        """What makes the component as spawned into what it is now."""
        return iter(())

    def held(self) -> int:
        """What the state costs, beside the component itself."""
        return 0

    # --- the same for all -------------------------------------------------------------------------------------------

    def cost(self) -> int:
        return COMPONENT + len(self.spawn) + self.held() + cost_of(self.unknown)

    def frames(self) -> Iterator[bytes]:
        """What shows this component to somebody who has its container."""
        yield self.spawned()
        yield from self.updates()
        yield from self.unknown

    def frozen(self) -> Iterable[bytes]:
        """The same, as it is now, whatever is done to the component afterwards. What takes long to say is said when it
        is asked for."""
        return [self.spawned(), *self.updates(), *self.unknown]

    def spawned(self) -> bytes:
        """The spawn, as it would have to be now."""
        changes = self.changed()
        if self.parent is not None and self.parent.target != self.spawned_in:
            changes["parent"] = self.parent.target
        return with_fields(self.spawn, changes) if changes else self.spawn

    def subtree(self) -> Iterator["Component"]:
        """This component and all in it: containers before their children, children in order."""
        waiting = [self]
        while waiting:
            component = waiting.pop()
            yield component
            waiting.extend(reversed(component.children.values()))

    def above(self) -> Iterator["Component"]:
        """This component and the containers it is in."""
        component: Component | None = self
        while component is not None:
            yield component
            component = component.parent

    def depth(self) -> int:
        """0: the board itself."""
        return sum(1 for _ in self.above()) - 1

    def levels(self) -> int:
        """How many there are below it. 0: there is nothing in it."""
        count, level = -1, [self]
        while level:
            count, level = count + 1, [child for component in level for child in component.children.values()]
        return count

    def place(self, container: "Component", before: str | None = None) -> None:
        """Put this at the end of a container, or before one of its children."""
        if self.parent is not None:
            del self.parent.children[self.target]
        self.parent = container
        if before is None:
            container.children[self.target] = self
            return
        order = list(container.children)
        order.insert(order.index(before), self.target)
        container.children = {name: container.children.get(name, self) for name in order}


class Container(Component):
    """A row or a column."""

    __slots__ = ()


def let_go(components: Iterable[Component]) -> None:
    """Cuts the ties between components that have gone. A circle of references stays in memory until garbage is looked
    for, which is seldom, and with it all that was said about them."""
    for one in components:
        one.parent = None
        one.children = {}


def cost_of(unknown: list[bytes]) -> int:
    return sum(map(len, unknown)) + UNKNOWN * len(unknown)


def keep(messages: list[bytes], message: Other, budget: Budget) -> str | None:
    """Add one to a list of messages that we do not understand; why not, if there is no room. Of too many the oldest
    goes: it is most likely to have been overtaken by a newer one."""
    cost = len(message.raw) + UNKNOWN
    if cost > budget.left and (wrong := budget.refusal(message, cost)):
        return wrong
    budget.left -= cost
    messages.append(message.raw)
    if len(messages) > budget.limits.unknown:
        budget.left += len(messages.pop(0)) + UNKNOWN
    return None


def with_fields(spawn: bytes, changes: dict[str, Any]) -> bytes:
    """A spawn with other values in its payload, and all else as it was."""
    message: dict[str, Any] = dict(fields_of(spawn))
    payload = some_fields_of(message["payload"]) if "payload" in message else None
    return write({**message, "payload": {**(payload or {}), **changes}})


def is_deep(raw: bytes) -> bool:
    """Whether a message is nested too deeply for us to read it again at any time. A decoder recurses, and one that has
    just about managed a message may not where there is less room on the stack."""
    if raw.count(b"{") + raw.count(b"[") <= DEEPEST:
        return False
    try:
        level = [anything(raw)]
    except RecursionError:
        return True
    for _ in range(DEEPEST):
        inner = [one.values() if type(one) is dict else one for one in level]
        level = [value for values in inner for value in values if type(value) is dict or type(value) is list]
        if not level:
            return False
    return True
