"""What other packages add to the program: objects that they name in their metadata, in a group of entry points.

    [project.entry-points."troupe.ipc.commands"]
    countWords = "mypackage.commands:count_words"

A broken package causes a sentence in the log, and never keeps the server from starting. Loading a package runs its
code, so it happens before the tree starts, and only for groups that are asked for.
"""

import logging
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

COMMANDS = "troupe.ipc.commands"

logger = logging.getLogger("troupe.plugins")


class Plugin(NamedTuple):
    name: str
    value: object


def plugins(group: str, points: Iterable[EntryPoint] | None = None) -> Iterator[Plugin]:
    """`points`: in place of those that are installed."""
    seen: set[str] = set()
    for point in entry_points(group=group) if points is None else points:
        if point.name in seen:
            logger.warning("%s is there twice in %s: %s was left out", point.name, group, point.value)
            continue
        seen.add(point.name)
        try:
            value = point.load()
        except (Exception, SystemExit) as error:  # whatever a foreign module does when it is imported
            reason = " ".join(str(error).split()) or "no reason given"
            logger.warning("%s of %s cannot be loaded: %s: %s", point.name, group, type(error).__name__, reason)
            continue
        yield Plugin(point.name, value)
