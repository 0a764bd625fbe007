"""The console shows the live tree. An observer samples the tree, each open page has a viewer, and the desk answers the
transport."""

from actors.console.desk import ConsoleDesk, viewers_spec
from actors.console.observer import Observer
from actors.console.picture import Surroundings
from actors.console.systems import SystemFact

__all__ = ["ConsoleDesk", "Observer", "Surroundings", "SystemFact", "viewers_spec"]
