"""Sidekick: rooms in which scripts draw on boards and pages show the boards live."""

from actors.sidekick.boards import boards_spec
from actors.sidekick.desk import SidekickDesk, crowd_specs
from actors.sidekick.prose import prose

__all__ = ["SidekickDesk", "boards_spec", "crowd_specs", "prose"]
