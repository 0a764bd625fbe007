"""What the shelf is told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from actors.judge.messages.panel import PanelMessage
from actors.judge.places import Place
from actors.kernel import ActorRef, Reply
from codec.judge import Listed, RunSettings, Task


@dataclass(frozen=True, slots=True)
class PlaceFor:
    """Where does this task live? Always the same folder for the same problem, and never another's."""

    task: Task
    reply: Reply[Place]


@dataclass(frozen=True, slots=True)
class Changed:
    """A problem is new, or was run, or its folder is seen to have other tests. `arrived`: it was just posted, and that
    post has this number."""

    listed: Listed
    arrived: bool
    number: int = 0


@dataclass(frozen=True, slots=True)
class Vanished:
    """This problem's folder is not there."""

    id: str


@dataclass(frozen=True, slots=True)
class LookAround:
    """Somebody is back at a page: which problems are still there?"""


@dataclass(frozen=True, slots=True)
class There:
    """Of these problems, whether their folders are there."""

    folders: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class TakeOff:
    """A page does not want this problem in the list. Its folder is left alone."""

    panel: ActorRef[PanelMessage]
    id: str


@dataclass(frozen=True, slots=True)
class PutBack:
    """A page wants a problem that is not in the list."""

    panel: ActorRef[PanelMessage]
    id: str


@dataclass(frozen=True, slots=True)
class Came:
    """A panel was opened; it is watched."""

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
class Trouble:
    """All who look on should know this."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Publish:
    """It is time to tell the panels of all problems."""


ShelfMessage = (
    PlaceFor | Changed | Vanished | LookAround | There | TakeOff | PutBack | Came | Looks | ChangeSettings
    | SettingsNow | Trouble | Publish
)  # fmt: skip
