"""The scene: what a room's board shows right now, and the shortest way to show it to somebody who has just come."""

from actors.sidekick.scene.limits import Limits, Reserve
from actors.sidekick.scene.restoring import Restoring
from actors.sidekick.scene.scene import Drawn, Scene, SceneStatistics

__all__ = ["Drawn", "Limits", "Reserve", "Restoring", "Scene", "SceneStatistics"]
