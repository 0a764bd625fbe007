"""What a fake does with a question, step by step."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import trio


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Think:
    text: str


@dataclass(frozen=True)
class Call:
    name: str
    arguments: Any = field(default_factory=dict)
    id: str = "call_1"


@dataclass(frozen=True)
class Usage:
    prompt: int
    completion: int


@dataclass(frozen=True)
class Done:
    """The answer ends as it should."""

    reason: str = "stop"


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Hang:
    """Nothing more, for ever. As the first step: not even a head."""


@dataclass(frozen=True)
class Die:
    """The connection is reset."""


@dataclass(frozen=True)
class Leave:
    """The connection is closed, though the answer has not ended."""


@dataclass(frozen=True)
class Fail:
    """An error in the middle of the answer, as this family reports it."""

    message: str


@dataclass(frozen=True)
class Raw:
    """Any bytes, as part of the answer's body."""

    data: bytes


@dataclass(frozen=True)
class Tell:
    """What was said so far has been sent."""

    event: trio.Event


@dataclass(frozen=True)
class Forever:
    """The same text again and again, as fast as it is read."""

    text: str


@dataclass(frozen=True)
class Refuse:
    """Instead of an answer."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


Step = Say | Think | Call | Usage | Done | Pause | Hang | Die | Leave | Fail | Raw | Tell | Forever
Script = Iterable[Step] | Refuse


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    """None if it is no JSON."""


Play = Callable[[Asked], Script]


@dataclass(frozen=True)
class FakeModel:
    name: str
    window: int = 8192
    capabilities: tuple[str, ...] = ("completion", "tools")


MODELS = (FakeModel("qwen3:8b", 40960, ("completion", "tools", "thinking")), FakeModel("tiny:latest", 2048))
