"""Sidekick: rooms in which scripts draw live boards and pages show them."""

from actors.sidekick.desk import Desk, Peers, Rooms
from actors.sidekick.prose import prose

__all__ = ["Desk", "Peers", "Rooms", "prose"]
