"""Short ways to a scene and to what it shows."""

import json
from typing import Any

from actors.sidekick.scene import Limits, Scene
from tests.sidekick.scene.stories import heard, message, spawn, update

__all__ = ["message", "names", "payloads", "scene_of", "shown", "spawn", "told", "update"]


def scene_of(*frames: bytes, limits: Limits | None = None) -> Scene:
    """A scene in which all of this was done."""
    scene = Scene(limits)
    assert told(scene, *frames) == [None] * len(frames)
    return scene


def told(scene: Scene, *frames: bytes, hero: object = None) -> list[str | None]:
    """What became of each of these messages."""
    return [scene.fold(said, hero) for said in heard(*frames)]


def shown(scene: Scene) -> list[dict[str, Any]]:
    return [json.loads(frame) for frame in scene.replay()]


def names(scene: Scene) -> list[str]:
    """What stands on the board, in the order in which it is spawned."""
    return [one["target"] for one in shown(scene) if one["type"] == "spawn"]


def payloads(scene: Scene, target: str) -> list[Any]:
    """What is said of one component."""
    return [one.get("payload") for one in shown(scene) if one["target"] == target]
