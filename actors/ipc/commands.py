"""The commands that every server end knows.

    ping             {}                                 -> {"message": "pong"}
    getCurrentState  {}                                 -> {"model", "mode"}
    setMode          {"mode": "chat" | "agent"}         -> {"mode"}; remembered over restarts
    submitPrompt     {"prompt", "model"?, "mode"?, ...} -> {"content", "model", "mode", "timestamp", "success": true}
    listCommands     {}                                 -> {"commands": [{"name", "about"}, ...]}

A prompt is answered by the model that the settings name. Where there is none, its error says so, and that trying again
is of no use.
"""

from datetime import UTC, datetime
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from actors.ipc.handlers import CommandContext, CommandFailed, Handlers, KnownCommand, Remembering

Mode = Literal["chat", "agent"]
NO_MODEL = (
    'no model answers prompts here; set ipc.model to "echo" for trying things out, or to "agent" for the configured one'
)
NO_AGENT = 'ipc.model is "agent", and no agent is configured here; configure one, or set ipc.model to another'


class PromptModel(Protocol):
    @property
    def name(self) -> str: ...

    async def answer(self, prompt: str, mode: Mode) -> str:
        """Raises CommandFailed with a sentence, or anything else."""


class EchoModel:
    name = "echo"

    async def answer(self, prompt: str, mode: Mode) -> str:
        return prompt


class NoParams(msgspec.Struct, frozen=True):
    """Any are ignored, as the editor's extension does."""


class ModeWanted(msgspec.Struct, frozen=True):
    mode: Mode


class Prompt(msgspec.Struct, frozen=True):
    prompt: str
    mode: Mode | None = None
    """For this prompt only. None: as it was set."""


async def ping(params: NoParams, context: CommandContext) -> Any:
    return {"message": "pong"}


async def set_mode(params: ModeWanted, context: CommandContext) -> Any:
    await context.memory.remember("mode", params.mode)
    return {"mode": params.mode}


async def list_commands(params: NoParams, context: CommandContext) -> Any:
    return {"commands": [{"name": each.name, "about": each.about} for each in context.handlers]}


class CurrentState(Struct, frozen=True):
    model: PromptModel | None

    async def __call__(self, params: NoParams, context: CommandContext) -> Any:
        return {"model": self.model.name if self.model else "none", "mode": await _mode(context.memory)}


class SubmitPrompt(Struct, frozen=True):
    model: PromptModel | None
    sentence: str
    """Why there is no model, if there is none."""

    async def __call__(self, params: Prompt, context: CommandContext) -> Any:
        if self.model is None:
            raise CommandFailed(self.sentence, permanent=True)
        if not params.prompt.strip():
            raise CommandFailed("expected prompt to be a text, but it is empty", permanent=True)
        mode = params.mode or await _mode(context.memory)
        content = await self.model.answer(params.prompt, mode)
        at = datetime.fromtimestamp(context.wall(), UTC).isoformat()
        return {"content": content, "model": self.model.name, "mode": mode, "timestamp": at, "success": True}


async def _mode(memory: Remembering) -> Mode:
    """The extension's own begins as an agent, too."""
    return "chat" if await memory.recall("mode") == "chat" else "agent"


def known_commands(setting: Literal["none", "echo", "agent"] = "none", agent: PromptModel | None = None) -> Handlers:
    """`agent`: what answers where the setting is so."""
    model: PromptModel | None = {"none": None, "echo": EchoModel(), "agent": agent}[setting]
    sentence = NO_AGENT if setting == "agent" else NO_MODEL
    return Handlers(
        [
            KnownCommand("ping", ping, NoParams, "Answers pong."),
            KnownCommand("getCurrentState", CurrentState(model), NoParams, "Tells the model and the mode."),
            KnownCommand("setMode", set_mode, ModeWanted, "Sets the mode, chat or agent, of later prompts."),
            KnownCommand("submitPrompt", SubmitPrompt(model, sentence), Prompt, "Has a prompt answered by the model."),
            KnownCommand("listCommands", list_commands, NoParams, "Lists the commands."),
        ]
    )
