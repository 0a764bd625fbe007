"""The tree of components.

Rules
  - A component is in exactly one container; the board itself is the container `root`. Children keep their order.
  - `changeParent` moves a component to the end of a container, or before the sibling named by `insertBefore`, but never
    into itself.
  - Removing a component removes everything in it.
  - An unknown component may contain others, because a newer protocol may have a new kind of container. (Its scripts
    would not put anything into a new kind of leaf.)
  - The spawn is kept as it came, with unknown fields, and is written anew only if the component has moved.

Children are the keys of a dict, in its order. So it takes constant time to add or remove one, except with
`insertBefore`. Nothing here recurses, so a limit decides how deep a tree may be, and not the stack.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from actors.sidekick.scene.limits import Budget
from codec.sidekick import ROOT, Other, Spawn, Update

Actions = dict[type, Callable[[Any, Any, Update], str | None]]
"""For each type of payload, a function that applies it to a component, given its options and the message. The function
returns None, or why the message is refused."""
Hero = object
"""The sender of a message: any object that can be a key."""

COMPONENT = 1_000
"""The cost of a component beside its spawn."""
UNKNOWN = 64
"""The cost of a retained message that we do not understand, beside its bytes."""
DEEPEST = 100
"""How deep a retained message that may have to be written anew can be nested."""
MOST_OUTSIDERS = 64
NOBODY: Mapping[Hero, None] = {}

Fields = dict[str, msgspec.Raw]
fields_of = msgspec.json.Decoder(Fields).decode
some_fields_of = msgspec.json.Decoder(Fields | None).decode
anything = msgspec.json.Decoder().decode
write = msgspec.json.Encoder().encode


class Component:
    """A component, its position in the tree, and the cost of its state. This is the base class of all kinds, and the
    class of all kinds without a state of their own: containers and unknown components."""

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
        self.outsiders: Mapping[Hero, None] = NOBODY
        """The last heroes that wanted this id for a component of their own. They may not write on this one."""

    # --- for each kind to override ----------------------------------------------------------------------------------

    def fault(self) -> str | None:
        """The mistake in the spawn; None if there is none."""
        return None

    def changed(self) -> dict[str, Any]:
        """The fields of the spawn's payload that have other values by now."""
        return {}

    def updates(self) -> Iterator[bytes]:
        """The messages that turn the component as spawned into its current state."""
        return iter(())

    def held(self) -> int:
        """The cost of the state, without the component itself."""
        return 0

    # --- the same for all -------------------------------------------------------------------------------------------

    def keep_out(self, *heroes: Hero) -> None:
        """These heroes may not write on this component. Those that were kept out longest ago are forgotten: a script
        has another name whenever it is run."""
        last = [*(one for one in self.outsiders if one not in heroes), *heroes][-MOST_OUTSIDERS:]
        self.outsiders = dict.fromkeys(last)

    def cost(self) -> int:
        return COMPONENT + len(self.spawn) + self.held() + cost_of(self.unknown)

    def frames(self) -> Iterator[bytes]:
        """The messages that show this component to a screen that has its container."""
        yield self.spawned()
        yield from self.updates()
        yield from self.unknown

    def frozen(self) -> Iterable[bytes]:
        """The same messages as `frames`, but later changes to the component do not alter them. Messages that take long
        to make are made when the result is iterated over."""
        return [self.spawned(), *self.updates(), *self.unknown]

    def spawned(self) -> bytes:
        """The spawn message, updated."""
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
        """This component and all containers around it."""
        component: Component | None = self
        while component is not None:
            yield component
            component = component.parent

    def depth(self) -> int:
        """How many containers are around it. 0: this is the board itself."""
        return sum(1 for _ in self.above()) - 1

    def levels(self) -> int:
        """How many levels of components are below it. 0: there is nothing in it."""
        count, level = -1, [self]
        while level:
            count, level = count + 1, [child for component in level for child in component.children.values()]
        return count

    def place(self, container: "Component", before: str | None = None) -> None:
        """Put this component at the end of a container, or before one of its children."""
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
    """Cut the references between removed components. Cycles of references would stay in memory, with all retained
    messages, until the garbage collector finds them, and that is seldom."""
    for one in components:
        one.parent = None
        one.children = {}


def cost_of(unknown: list[bytes]) -> int:
    return sum(map(len, unknown)) + UNKNOWN * len(unknown)


def keep(messages: list[bytes], message: Other, budget: Budget) -> str | None:
    """Add a message that we do not understand to a list. Returns why not, if there is no room. If the list is too long,
    the oldest message is dropped: a newer one has most likely superseded it."""
    cost = len(message.raw) + UNKNOWN
    if cost > budget.left and (wrong := budget.refusal(message, cost)):
        return wrong
    budget.left -= cost
    messages.append(message.raw)
    if len(messages) > budget.limits.unknown:
        budget.left += len(messages.pop(0)) + UNKNOWN
    return None


def with_fields(spawn: bytes, changes: dict[str, Any]) -> bytes:
    """A spawn with some fields of its payload changed, and all else as it was."""
    message: dict[str, Any] = dict(fields_of(spawn))
    payload = some_fields_of(message["payload"]) if "payload" in message else None
    return write({**message, "payload": {**(payload or {}), **changes}})


def is_deep(raw: bytes) -> bool:
    """Whether a message is nested so deeply that we might not be able to read it again. A decoder recurses: if it has
    just managed a message here, it may fail elsewhere, where the stack has less room."""
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
