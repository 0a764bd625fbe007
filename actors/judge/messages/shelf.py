"""The messages to the shelf."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actors.judge.messages.panel import PanelMessage
from actors.judge.places import TaskPlace
from actors.kernel import ActorRef, Reply
from codec.judge import Listed, RunSettings, Task


@dataclass(frozen=True, slots=True)
class PlaceFor:
    """Asks for a task's folder: always the same one for the same problem, and never another problem's."""

    task: Task
    reply: Reply[TaskPlace]


@dataclass(frozen=True, slots=True)
class Changed:
    """A problem is new, or was run, or the tests in its folder have changed. `arrived`: the number of the post, if it
    was just posted."""

    listed: Listed
    arrived: bool
    number: int = 0


@dataclass(frozen=True, slots=True)
class Vanished:
    """This problem's folder is missing."""

    id: str


@dataclass(frozen=True, slots=True)
class LookAround:
    """The user is back at a page. Which problems still have their folders?"""


@dataclass(frozen=True, slots=True)
class There:
    """For each of these problems, whether its folder exists."""

    folders: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class TakeOff:
    """A page takes this problem off the list. Its folder stays."""

    panel: ActorRef[PanelMessage]
    id: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """A page wants a problem that is not in the list."""

    panel: ActorRef[PanelMessage]
    id: str


@dataclass(frozen=True, slots=True)
class Came:
    """A panel was opened. The shelf monitors it."""

    panel: ActorRef[PanelMessage]


@dataclass(frozen=True, slots=True)
class Looks:
    """A panel now shows this problem."""

    panel: ActorRef[PanelMessage]
    id: str


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    panel: ActorRef[PanelMessage]
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SettingsNow:
    reply: Reply[RunSettings]


@dataclass(frozen=True, slots=True)
class TellEverybody:
    """A problem that all panels should report."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Publish:
    """It is time to send the list of problems to the panels."""


ShelfMessage = (
    PlaceFor | Changed | Vanished | LookAround | There | TakeOff | PutBack | Came | Looks | ChangeSettings
    | SettingsNow | TellEverybody | Publish
)  # fmt: skip
