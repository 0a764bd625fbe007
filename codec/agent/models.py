"""Models: which there are, which is used, what one is asked and what it answers, whoever makes it.

`ModelRequest` is what a turn asks, and `Delta` is what comes back, piece by piece; the codecs of each family
(codec/agent/ollama.py, codec/agent/openai.py) turn both from and into their wire formats.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Provider = Literal["builtin", "ollama", "openai", "vllm", "llamacpp"]
BUILTIN = "builtin"
Window = Annotated[int, Meta(ge=256, le=10_000_000)]


class ModelConfig(Struct, frozen=True, kw_only=True):
    """PUT /v1/models/current, and the answer to its GET."""

    provider: Provider
    model_name: Annotated[str, Meta(min_length=1, max_length=300)] = BUILTIN
    url: Annotated[str, Meta(max_length=2000)] = ""
    """Without /v1."""
    context_window: Window = 8192
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.7
    display_name: str | None = None


class ModelFact(Struct, frozen=True, kw_only=True):
    id: str
    provider: Provider
    url: str
    display_name: str | None = None
    context_window: int | None = None
    capabilities: tuple[str, ...] = ()


class ModelList(Struct, frozen=True, kw_only=True):
    models: tuple[ModelFact, ...]
    unreachable: tuple[str, ...] = ()
    """A sentence for each server that did not answer."""


class ModelSwitch(Struct, frozen=True, kw_only=True):
    """The answer to the original's POST /v1/models/switch."""

    success: bool
    old_model: str | None
    new_model: str
    message: str


# -- what is asked


class ToolCall(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    arguments: Any
    """An object; a text if it was not one, or no JSON."""


class ModelMessage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None


class ToolSpec(Struct, frozen=True, kw_only=True):
    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON Schema."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    model: ModelConfig
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    think: bool | None = None
    """Whether the model is to think aloud first, where that can be chosen. None: as its server does by default."""


# -- what comes back


class SaidText(Struct, frozen=True):
    text: str


class SaidThought(Struct, frozen=True):
    text: str


class CalledTool(Struct, frozen=True):
    call: ToolCall


class UsedTokens(Struct, frozen=True, kw_only=True):
    prompt: int = 0
    completion: int = 0


class Finished(Struct, frozen=True):
    """The model has ended by itself. A stream that ends without it was cut off."""

    reason: str = "stop"


Delta = SaidText | SaidThought | CalledTool | UsedTokens | Finished


class ModelTrouble(Exception):
    """The model or its server failed; the text is a sentence for users. `recoverable`: trying again may help."""

    def __init__(self, message: str, *, recoverable: bool = True) -> None:
        super().__init__(message)
        self.recoverable = recoverable
