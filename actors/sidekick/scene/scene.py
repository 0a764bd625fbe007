"""A scene: the content of a room's board, folded from the messages of its heroes.

Rules
  - Each message is either accepted, and then has to be relayed, or refused with a sentence that says why. A refused
    message changes nothing.
  - A screen that is sent the replay and then the relayed messages shows the same as one that was there from the start.
  - Its memory is bounded (see limits.py). The cost of an update does not depend on the size of the board.
  - Ids belong to the room. A hero owns the components that it spawned: it gets their events, and another hero's
    clearAll leaves them alone. Any hero may write on existing components, as a script does that continues the board of
    an earlier one. An exception is a hero whose own spawn was refused because the id was in use: it means another
    component.
  - Unknown messages are relayed and retained: with their component if they name one, otherwise with the board.

Messages are kept as they came, in their `raw`, and sent again in the replay. So fields that the scene does not know
survive, and a message is only serialised again if it has changed.
"""

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import MsgspecError, Struct, structs

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
"""A screen that shows the scene: any object that can be compared."""
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
MOST_COMPLAINTS = 256
AWAY = "use another id, or a room of your own (?session=...)"

NO_ONE: frozenset[Hero] = frozenset()


class SceneStatistics(Struct, frozen=True):
    components: int
    memory: int
    """In bytes, estimated; never more than the limit."""
    memory_limit: int
    strokes: int
    """On all canvases."""
    forgotten: int
    """Strokes that a screen that comes later will not see."""
    unknown: int
    """Retained messages that were not understood."""


class Scene:
    def __init__(self, limits: Limits | None = None, reserve: Reserve | None = None) -> None:
        """`reserve`: the memory that it shares with other scenes. Without one, it shares nothing."""
        self._limits = limits or Limits()
        self._budget = Budget(self._limits, reserve or Reserve(self._limits.memory))
        self._components: dict[str, Component] = {}
        self.empty()

    def empty(self) -> None:
        """Remove everything. The memory goes back to the reserve."""
        let_go(self._components.values())
        self._budget.end()
        self._root = Container(Other(ROOT, "spawn", ROOT), self._budget, ROOT)
        self._components = {}
        self._strays: dict[Hero, list[bytes]] = {}
        """Retained messages about components that did not exist, by hero. They come first in the replay."""
        self._unknown: dict[Hero, list[bytes]] = {}
        """Retained messages that name no component, by hero."""
        self._complaints: dict[tuple[str, str], Screen] = {}
        """The screen that was the first to report an error, by component and message of the error."""

    # --- fold -------------------------------------------------------------------------------------------------------

    def fold(self, message: Drawn, hero: Hero = None) -> str | None:
        """Apply a message. None: it was accepted, and has to be relayed. Otherwise, why it is refused: then it must not
        be relayed."""
        if type(message) is Update:  # nearly all messages are updates
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
        """Apply a hero's clearAll. Returns the messages to relay in its place. Everything is removed except components
        owned by one of the `others`; but a component inside a removed container is removed, too."""
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

    # --- messages of screens ----------------------------------------------------------------------------------------

    def submitted(self, event: Event) -> Update | None:
        """A reader has submitted a textbox. The text is its value from now on, as if its hero had set it. Returns the
        message for the screens. None if the event is no such thing, or if there is no room for the text."""
        if type(event.payload) is not Submit:
            return None
        component = self._components.get(event.src)
        if component is None or component.kind != "textbox":
            return None
        said = Update("textbox", event.src, "setValue", SetValue(Value(event.payload.value)))
        said = structs.replace(said, raw=encode(said))
        return said if self.fold(said, component.hero) is None else None

    def is_news(self, fault: Fault, screen: Screen, present: Collection[Screen]) -> bool:
        """Whether this screen is the first of the present ones to report this error. Every tab fails at the same
        command, but the hero is told by only one of them."""
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
            if hero is not None:  # None is no script
                standing.keep_out(hero)
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
        """The container with this name, if this hero can put something into it. Otherwise None, and why not."""
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
            return None  # a message of a UI changes nothing
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

    # --- the current content ----------------------------------------------------------------------------------------

    def replay(self) -> Iterator[bytes]:
        """The messages that draw the board for a screen whose board is empty. Nothing may be folded meanwhile."""
        for messages in self._strays.values():
            yield from messages
        for component in self._root.subtree():
            if component is not self._root:
                yield from component.frames()
        for messages in self._unknown.values():
            yield from messages

    def picture(self) -> list[KeptPart]:
        """The messages of the replay, each with its owner. Messages that are folded later do not alter the picture."""
        standing = (one for one in self._root.subtree() if one is not self._root)
        return [
            *(KeptPart(_name(hero), (), messages[:]) for hero, messages in self._strays.items()),
            *(KeptPart(_name(one.hero), _names(one.outsiders), one.frozen()) for one in standing),
            *(KeptPart(_name(hero), (), messages[:]) for hero, messages in self._unknown.items()),
        ]

    def keep_out(self, target: str, heroes: Collection[Hero]) -> None:
        """These heroes may not write on a component, because they wanted its id for a component of their own."""
        component = self._components.get(target)
        if component is not None:
            component.keep_out(*heroes)

    def repaint(self, target: str) -> Iterator[bytes]:
        """The messages that draw the canvases in a component (or the component itself) again. The released UI blanks a
        canvas that moves."""
        component = self._components.get(target)
        for one in component.subtree() if component is not None else ():
            if isinstance(one, Canvas):
                yield from one.updates()

    def standing(self) -> list[tuple[str, str, Hero]]:
        """Kind, id and owner of all components, containers first."""
        return [(one.kind, one.target, one.hero) for one in self._root.subtree() if one is not self._root]

    @property
    def is_empty(self) -> bool:
        """Whether the replay is empty."""
        return not (self._components or any(self._strays.values()) or any(self._unknown.values()))

    def owner(self, target: str) -> Hero | None:
        """The hero that spawned a component; None if there is none."""
        component = self._components.get(target)
        return None if component is None else component.hero

    @property
    def memory(self) -> int:
        """In bytes, estimated."""
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
    """A hero as it is stored."""
    return hero if isinstance(hero, str) else None


def _names(heroes: Collection[Hero]) -> tuple[str, ...]:
    return tuple(hero for hero in heroes if isinstance(hero, str)) if heroes else ()


def _payload(raw: bytes) -> dict[str, Any]:
    """The payload of a message that we do not understand; empty if it makes no sense."""
    try:
        message = anything(raw)
    except (MsgspecError, RecursionError):
        return {}
    payload = message.get("payload") if isinstance(message, dict) else None
    return payload if isinstance(payload, dict) else {}
