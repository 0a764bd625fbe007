"""Sidekick: rooms in which scripts draw live boards and pages show them."""

from actors.sidekick.desk import Desk, crowd_specs
from actors.sidekick.prose import prose

__all__ = ["Desk", "crowd_specs", "prose"]
