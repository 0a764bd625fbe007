"""The scene: the current content of a room's board, and the shortest way to show it to a screen that has just come."""

from actors.sidekick.scene.limits import Limits, Reserve
from actors.sidekick.scene.restoring import Restoring
from actors.sidekick.scene.scene import Drawn, Scene, SceneStatistics

__all__ = ["Drawn", "Limits", "Reserve", "Restoring", "Scene", "SceneStatistics"]
