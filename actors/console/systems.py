"""Describes each system by a state and a sentence, from its slot in the tree and its listener. Pure.

    off        it is switched off in the settings
    paused     its part of the tree failed too often and waits
    down       its listener is down, or its part of the tree has ended or waits for its restart
    starting   it is being started
    failing    it runs, but cannot do a part of its work
    up         it works
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from actors.kernel import SlotState, SlotStatistics
from codec.console import Health, Listening, Node, System, SystemState

NOT_THERE: dict[SlotState, SystemState] = {
    SlotState.WAITING: "down",
    SlotState.PAUSED: "paused",
    SlotState.STOPPED: "down",
    SlotState.STOPPING: "down",
    SlotState.STARTING: "starting",
}


class SystemFact(Struct, frozen=True):
    """One system. Its name is the name of its slot below the top."""

    name: str
    enabled: bool
    listens: bool
    about: str
    """Its purpose, in a few words."""


def status(
    fact: SystemFact, slot: SlotStatistics | None, listening: Listening | None, lately: str | None = None
) -> System:
    def say(state: SystemState, sentence: str, url: str | None = None) -> System:
        return System(fact.name, state, sentence, url, lately)

    if not fact.enabled:
        return say("off", f"switched off in the settings; [{fact.name}] enabled = true switches it on")
    if slot is None:
        return say("starting", "waits for its turn")
    if slot.state is SlotState.PAUSED:
        return say("paused", "; ".join(filter(None, (slot.note, slot.error))))
    if slot.state is not SlotState.RUNNING:
        sentence = {"starting": "is starting", "down": "is not running"}[NOT_THERE[slot.state]]
        return say(NOT_THERE[slot.state], "; ".join(filter(None, (sentence, slot.error))))
    if slot.trouble is not None:
        return say("failing", slot.trouble)
    if not fact.listens:
        return say("up", slot.note or fact.about)
    if listening is None:
        return say("starting", "opens its port")
    if not listening.up:
        return say("down", f"{listening.sentence}; tried again every few seconds")
    return say("up", listening.sentence, listening.url)


def restarted_lately(branch: str, nodes: Iterable[Node]) -> str | None:
    """A text about the recent crashes in a branch of the tree; `branch` is its path."""
    fallen = [node.path for node in nodes if node.lately == "crashed" and f"{node.path}/".startswith(f"{branch}/")]
    if not fallen:
        return None
    if branch in fallen:
        return "all of it was restarted lately"
    names = [path.removeprefix(f"{branch}/") for path in fallen[:3]]
    return f"restarted lately: {', '.join(names)}{' and others' if len(fallen) > 3 else ''}"


def health(systems: tuple[System, ...], *, version: str, pid: int, uptime: float) -> Health:
    well: Literal["ok", "degraded"] = "ok" if all(system.state in ("up", "off") for system in systems) else "degraded"
    return Health(well, version, pid, uptime, list(systems))
