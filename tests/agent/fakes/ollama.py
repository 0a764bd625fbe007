"""Ollama, as far as the agent uses it: /api/chat, /api/tags, /api/show, /api/version."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.agent.fakes.script import Asked, Call, Done, Fail, Forever, Raw, Refuse, Say, Script, Step, Think, Usage
from tests.agent.fakes.wire import FakeServer

WHEN = "2025-01-01T00:00:00.000000Z"
FIGURES = {"total_duration": 5_000_000, "load_duration": 1_000_000, "prompt_eval_duration": 1, "eval_duration": 2}


class FakeOllama(FakeServer):
    def answer(self, asked: Asked) -> tuple[str, Script] | None:
        match asked.method, asked.path:
            case "POST", "/api/chat":
                model = asked.body.get("model", "")
                if not any(each.name in (model, f"{model}:latest") for each in self.models):
                    return "application/json", _refuse(404, f'model "{model}" not found, try pulling it first')
                kind = "application/x-ndjson" if asked.body.get("stream", True) else "application/json"
                script = self.play(asked)
                return kind, script if isinstance(script, Refuse) else _counted(script)
            case "POST", "/api/embed":
                return "application/json", self.embed(asked)
            case "GET", "/api/tags":
                models = [
                    {
                        "name": each.name,
                        "model": each.name,
                        "modified_at": WHEN,
                        "size": 5_200_000_000,
                        "digest": "500a1f067a9f782620b40bee6f7b0c89e17ae61f686b92c24933e4ca4b2b8b41",
                        "details": {"format": "gguf", "family": "qwen3", "parameter_size": "8.2B"},
                    }
                    for each in self.models
                ]
                return "application/json", [Raw(json.dumps({"models": models}).encode())]
            case "POST", "/api/show":
                for each in self.models:
                    if asked.body.get("model") in (each.name, each.name.removesuffix(":latest")):
                        info = {"general.architecture": "qwen3", "qwen3.context_length": each.window}
                        shown = {"model_info": info, "capabilities": each.capabilities, "details": {}}
                        return "application/json", [Raw(json.dumps(shown).encode())]
                return "application/json", _refuse(404, f"model '{asked.body.get('model')}' not found")
            case "GET", "/api/version":
                return "application/json", [Raw(b'{"version":"0.12.0"}')]
        return None

    def wire(self, step: Step, asked: Asked) -> Iterator[bytes]:
        match step:
            case Say(text) | Forever(text):
                yield _line(asked, {"content": text})
            case Think(text):
                yield _line(asked, {"content": "", "thinking": text})
            case Call(name, arguments):
                call = {"function": {"name": name, "arguments": arguments}}
                yield _line(asked, {"content": "", "tool_calls": [call]})
            case Fail(message):
                yield json.dumps({"error": message}).encode() + b"\n"
            case _Ended(reason, usage):
                end: dict[str, Any] = {"done": True, "done_reason": reason, **FIGURES}
                if usage is not None:
                    end |= {"prompt_eval_count": usage.prompt, "eval_count": usage.completion}
                yield _line(asked, {"content": ""}, **end)


@dataclass(frozen=True)
class _Ended(Done):
    """With what was used, which stands in the last line."""

    usage: Usage | None = None


def _counted(script: Any) -> Iterator[Step]:
    usage: Usage | None = None
    for step in script:
        match step:
            case Usage():
                usage = step
            case Done(reason):
                yield _Ended("stop" if reason == "tool_calls" else reason, usage)
            case _:
                yield step


def _line(asked: Asked, message: dict[str, Any], **more: Any) -> bytes:
    whole = {
        "model": asked.body["model"],
        "created_at": WHEN,
        "message": {"role": "assistant", **message},
        "done": False,
    }
    return json.dumps(whole | more, ensure_ascii=False).encode() + b"\n"


def _refuse(status: int, error: str) -> Refuse:
    return Refuse(status, json.dumps({"error": error}).encode())
