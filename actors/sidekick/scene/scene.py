"""A scene: the content of a room's board, folded from the messages of its heroes.

Rules
  - Total: each message is either accepted, and then has to be relayed, or refused with a sentence that says why. A
    refused message changes nothing.
  - A screen that is sent the replay and then the relayed messages shows the same as one that was there from the start.
  - Bounded: see limits. The cost of an update does not depend on the size of the board.
  - Ids belong to the room. A hero owns the components that it spawned: it gets their events, and another hero's
    clearAll leaves them alone. Any hero may write on existing components, as a script does that continues the board of
    an earlier one. An exception is a hero whose own spawn was refused because the id was in use: it means another
    component.
  - Unknown messages are relayed and retained: with their component if they name one, otherwise with the board.

Messages are kept as they came, in their `raw`, and sent again in the replay. So fields that the scene does not know
survive, and nothing is serialised unless it has changed.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import MsgspecError, structs

from actors.sidekick.scene.canvas import Canvas
from actors.sidekick.scene.console import Console
from actors.sidekick.scene.grid import Grid
from actors.sidekick.scene.limits import Budget, Limits, Reserve, refused
from actors.sidekick.scene.texts import Texts
from actors.sidekick.scene.tree import Component, Container, Hero, anything, cost_of, is_deep, keep, let_go
from actors.sidekick.scene.viz import Viz
from codec.sidekick import ROOT, ClearAll, Event, Fault, Other, Remove, Spawn, Update, encode
from codec.sidekick.kept import KeptPart
from codec.sidekick.shapes import ChangeParent, SetValue, Submit, Value

Screen = object
"""Whoever shows the scene: anything that can be compared."""
Drawn = Spawn | Update | Remove | ClearAll | Other

KINDS: dict[str, type[Component]] = {
    "button": Texts,
    "canvas": Canvas,
    "column": Container,
    "console": Console,
    "grid": Grid,
    "label": Texts,
    "markdown": Texts,
    "row": Container,
    "textbox": Texts,
    "viz": Viz,
}
MOST_OUTSIDERS = 64
MOST_COMPLAINTS = 256
AWAY = "use another id, or a room of your own (?session=...)"

NO_ONE: frozenset[Hero] = frozenset()


@dataclass(frozen=True, slots=True)
class SceneStatistics:
    components: int
    memory: int
    """As estimated, in bytes; never more than the limit."""
    memory_limit: int
    strokes: int
    """On all canvases."""
    forgotten: int
    """Strokes that a newcomer will not be shown."""
    unknown: int
    """Retained messages that were not understood."""


class Scene:
    def __init__(self, limits: Limits | None = None, reserve: Reserve | None = None) -> None:
        """`reserve`: what it shares with other scenes; without one it has the world for itself."""
        self._limits = limits or Limits()
        self._budget = Budget(self._limits, reserve or Reserve(self._limits.memory))
        self._components: dict[str, Component] = {}
        self.empty()

    def empty(self) -> None:
        """Begin anew, with nothing. What was held can be had by other scenes."""
        let_go(self._components.values())
        self._budget.end()
        self._root = Container(Other(ROOT, "spawn", ROOT), self._budget, ROOT)
        self._components = {}
        self._strays: dict[Hero, list[bytes]] = {}
        """Retained messages about a component that was not there, by hero; in the replay they come before it."""
        self._unknown: dict[Hero, list[bytes]] = {}
        """Retained messages that name no component, by hero."""
        self._complaints: dict[tuple[str, str], Screen] = {}
        """Which screen was the first to complain of what, by component and message."""

    # --- fold -------------------------------------------------------------------------------------------------------

    def fold(self, message: Drawn, hero: Hero = None) -> str | None:
        """None: done, relay it. Else why it is refused; it must not be relayed."""
        if type(message) is Update:  # nearly all there ever is
            component = self._components.get(message.target)
            if component is None or component.kind != message.component or hero in component.outsiders:
                return self._not_here(message, component, hero)
            action = component.actions.get(type(message.payload))
            if action is not None:
                return action(component, message.payload.options, message)  # type: ignore[union-attr]
        match message:
            case Update(payload=ChangeParent(options=options)):
                return self._move(message, options.parent, options.insert_before)
            case Spawn():
                return self._spawn(message, message.parent, hero)
            case Remove():
                return self._remove(message, hero)
            case ClearAll():
                self.empty()
            case Other():
                return self._fold_unknown(message, hero)
            case Update():
                return refused(message, f"a {message.component} has no such action")
        return None

    def clear(self, message: ClearAll, others: Collection[Hero] = NO_ONE) -> list[Drawn]:
        """A hero's clearAll, and what to relay in its place: all goes except what is owned by one of these others (and
        what stands inside something that goes)."""
        standing = [one for one in self._root.subtree() if one is not self._root]
        retained = (self._strays, self._unknown)
        if all(one.hero not in others for one in standing) and all(kept.keys().isdisjoint(others) for kept in retained):
            self.empty()
            return [message]
        for kept in retained:
            for hero in kept.keys() - set(others):
                self._budget.left += cost_of(kept.pop(hero))
        removals: list[Drawn] = []
        for one in standing:
            if one.hero not in others and one.target in self._components:
                removals.append(Remove(one.kind, one.target, encode(Remove(one.kind, one.target))))
                self._take_away(one)
        return removals

    def _not_here(self, message: Update | Remove | Other, component: Component | None, hero: Hero) -> str:
        if component is None:
            wrong = "there is no such component: spawn it first"
        elif hero in component.outsiders:
            wrong = f"this id belongs to another script: {AWAY}"
        else:
            wrong = f"this is a {component.kind}"
        return refused(message, wrong)

    # --- what screens say -------------------------------------------------------------------------------------------

    def submitted(self, event: Event) -> Update | None:
        """A reader has submitted a textbox: that is its value from now on, as if its hero had set it. What to tell the
        screens; None where it is no textbox of ours, or there is no room for what was written."""
        if type(event.payload) is not Submit:
            return None
        component = self._components.get(event.src)
        if component is None or component.kind != "textbox":
            return None
        said = Update("textbox", event.src, "setValue", SetValue(Value(event.payload.value)))
        said = structs.replace(said, raw=encode(said))
        return said if self.fold(said, component.hero) is None else None

    def is_news(self, fault: Fault, screen: Screen, present: Collection[Screen]) -> bool:
        """Whether this screen is the first, of those that are there, to complain of this. Every tab fails at the same
        command: a hero hears of it from one."""
        complaint = (fault.src, fault.message)
        if self._complaints.get(complaint) not in present:
            if len(self._complaints) >= MOST_COMPLAINTS:
                self._complaints.clear()
            self._complaints[complaint] = screen
        return self._complaints[complaint] == screen

    # --- the tree ---------------------------------------------------------------------------------------------------

    def _spawn(self, message: Spawn | Other, parent: str, hero: Hero) -> str | None:
        target, limits = message.target or ROOT, self._limits
        if target == ROOT:
            return refused(message, f"'{ROOT}' is the board itself: use another id")
        standing = self._components.get(target)
        if standing is not None:
            if standing.hero == hero:
                return refused(message, "this id is taken: use another one, or remove what has it")
            if hero is not None and len(standing.outsiders) < MOST_OUTSIDERS:  # nobody is kept in no book
                standing.outsiders |= {hero}
            return refused(message, f"this id is taken by another script: {AWAY}")
        container, wrong = self._container(parent, hero)
        if container is None:
            return refused(message, wrong)
        if len(self._components) >= limits.components:
            return refused(message, f"the board has {limits.components:,} components, which is all it takes")
        if container.depth() >= limits.depth:
            return refused(message, f"this would be in more than {limits.depth} containers, one in another")
        if is_deep(message.raw):
            return refused(message, "its payload is nested too deeply")
        make = KINDS.get(message.component, Component) if type(message) is Spawn else Component
        component = make(message, self._budget, parent, hero)
        if wrong := component.fault() or "":
            return refused(message, wrong)
        cost = component.cost()
        if cost > self._budget.left and (refusal := self._budget.refusal(message, cost)):
            return refusal
        self._budget.left -= cost
        self._components[target] = component
        component.place(container)
        return None

    def _move(self, message: Update | Other, parent: str, before: str | None) -> str | None:
        component = self._components[message.target or ROOT]
        container, wrong = self._container(parent, component.hero)
        if container is None:
            return refused(message, wrong)
        if component in container.above():
            return refused(message, f"'{parent}' is in it, or is it: nothing can be put into itself")
        if before is not None and (before == component.target or before not in container.children):
            return refused(message, f"options.insertBefore must be another component in '{parent}'")
        if container.depth() + component.levels() >= self._limits.depth:
            return refused(message, f"this would be in more than {self._limits.depth} containers, one in another")
        component.place(container, before)
        return None

    def _container(self, name: str, hero: Hero) -> tuple[Component | None, str]:
        """The container of this name that this hero can put something into, else why there is none."""
        if name == ROOT:
            return self._root, ""
        container = self._components.get(name)
        if container is None:
            return None, f"there is no container '{name}': spawn it first"
        if not container.contains:
            return None, f"'{name}' is a {container.kind}, which cannot contain anything: use a row or a column"
        if hero in container.outsiders:
            return None, f"'{name}' belongs to another script: {AWAY}"
        return container, ""

    def _remove(self, message: Remove | Other, hero: Hero) -> str | None:
        component = self._components.get(message.target or ROOT)
        if component is None or hero in component.outsiders:
            return self._not_here(message, component, hero)
        self._take_away(component)
        return None

    def _take_away(self, component: Component) -> None:
        if component.parent is not None:
            del component.parent.children[component.target]
        gone = list(component.subtree())
        for one in gone:
            del self._components[one.target]
            self._budget.left += one.cost()
        let_go(gone)

    # --- what we do not understand ----------------------------------------------------------------------------------

    def _fold_unknown(self, message: Other, hero: Hero) -> str | None:
        if message.src is not None:
            return None  # what a UI says changes nothing
        payload = _payload(message.raw)
        if message.type == "spawn" and message.target:
            parent = payload.get("parent")
            return self._spawn(message, parent if isinstance(parent, str) else ROOT, hero)
        component = self._components.get(message.target or ROOT)
        if message.type in ("update", "remove") and (
            component is None or component.kind != message.component or hero in component.outsiders
        ):
            return self._not_here(message, component, hero)
        match message.type, payload:
            case "remove", _:
                return self._remove(message, hero)
            case "update", {"action": "changeParent", "options": {"parent": str(parent), **options}}:
                before = options.get("insertBefore")
                return self._move(message, parent, before if isinstance(before, str) else None)
        if component is not None:
            return keep(component.unknown, message, self._budget)
        return keep((self._strays if message.target else self._unknown).setdefault(hero, []), message, self._budget)

    # --- what it is now ---------------------------------------------------------------------------------------------

    def replay(self) -> Iterator[bytes]:
        """The board as canonical messages, for somebody whose board is empty. Nothing may be folded meanwhile."""
        for messages in self._strays.values():
            yield from messages
        for component in self._root.subtree():
            if component is not self._root:
                yield from component.frames()
        for messages in self._unknown.values():
            yield from messages

    def picture(self) -> list[KeptPart]:
        """What the replay says, and whose it is; as it is now, whatever is folded afterwards."""
        standing = (one for one in self._root.subtree() if one is not self._root)
        return [
            *(KeptPart(_name(hero), (), messages[:]) for hero, messages in self._strays.items()),
            *(KeptPart(_name(one.hero), _names(one.outsiders), one.frozen()) for one in standing),
            *(KeptPart(_name(hero), (), messages[:]) for hero, messages in self._unknown.items()),
        ]

    def keep_out(self, target: str, heroes: Collection[Hero]) -> None:
        """They have wanted this id for something of their own."""
        component = self._components.get(target)
        if component is not None:
            component.outsiders |= set(heroes)

    def repaint(self, target: str) -> Iterator[bytes]:
        """What was drawn on the canvases in a component (or on itself): the released UI blanks a canvas that moves."""
        component = self._components.get(target)
        for one in component.subtree() if component is not None else ():
            if isinstance(one, Canvas):
                yield from one.updates()

    def standing(self) -> list[tuple[str, str, Hero]]:
        """Kind, id and owner of all that stands there, containers first."""
        return [(one.kind, one.target, one.hero) for one in self._root.subtree() if one is not self._root]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that a newcomer would be shown."""
        return not (self._components or any(self._strays.values()) or any(self._unknown.values()))

    def owner(self, target: str) -> Hero | None:
        """The hero that spawned this; None if nobody did."""
        component = self._components.get(target)
        return None if component is None else component.hero

    @property
    def memory(self) -> int:
        """As estimated, in bytes."""
        return self._budget.spent

    def statistics(self) -> SceneStatistics:
        components = self._components.values()
        canvases = [one for one in components if isinstance(one, Canvas)]
        return SceneStatistics(
            components=len(components),
            memory=self._budget.spent,
            memory_limit=self._limits.memory,
            strokes=sum(one.strokes for one in canvases),
            forgotten=sum(one.forgotten for one in canvases),
            unknown=sum(len(one.unknown) for one in components)
            + sum(len(messages) for kept in (self._strays, self._unknown) for messages in kept.values()),
        )


def _name(hero: Hero) -> str | None:
    """As it can be written down."""
    return hero if isinstance(hero, str) else None


def _names(heroes: Collection[Hero]) -> tuple[str, ...]:
    return tuple(hero for hero in heroes if isinstance(hero, str)) if heroes else ()


def _payload(raw: bytes) -> dict[str, Any]:
    """Of a message that we do not understand; nothing where it makes no sense."""
    try:
        message = anything(raw)
    except (MsgspecError, RecursionError):
        return {}
    payload = message.get("payload") if isinstance(message, dict) else None
    return payload if isinstance(payload, dict) else {}
