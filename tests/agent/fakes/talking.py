"""What a fake says when nobody scripts it: it does what the user's last message says.

anything else         says it again, word by word
!long 500             five hundred words
!think                thinks first
!call NAME {json}     calls that tool; when the result has come, says it again
!again NAME {json}    calls that tool again and again, whatever comes, and whether it may or not
!hang  !die  !leave   after a few words: silence, a reset, a close
!garbage  !error TEXT after a few words: bytes that are no answer; the error of a server that has begun
!refuse 500           no answer but this status
"""

import json
from collections.abc import Iterator
from typing import Any

from tests.agent.fakes.script import (
    Asked,
    Call,
    Die,
    Done,
    Fail,
    Hang,
    Leave,
    Pause,
    Play,
    Raw,
    Refuse,
    Say,
    Script,
    Step,
    Think,
    Usage,
)


def talking(rate: float) -> Play:
    """`rate`: tokens per second; 0: as fast as they are read."""

    def play(asked: Asked) -> Script:
        messages: list[dict[str, Any]] = asked.body.get("messages", [])
        last = messages[-1] if messages else {}
        said = str(last.get("content") or "")
        insists = next((str(each.get("content")) for each in reversed(messages) if each.get("role") == "user"), "")
        if insists.startswith("!again "):
            said = insists
        elif last.get("role") == "tool":
            return _paced(_words(f"The tool says: {said}"), rate)
        first = said.strip().partition("\n")[0]  # what follows is context, which the turn has added
        order, _, rest = first.partition(" ")
        if order == "!refuse":
            status = int(rest) if rest.isdigit() else 500
            return Refuse(status, json.dumps({"error": "as you said"}).encode())
        return _paced(_ordered(order, rest, said), rate)

    return play


def _ordered(order: str, rest: str, said: str) -> Iterator[Step]:
    few: list[Step] = [Say(word) for word in ("Just ", "a ", "moment, ")]
    match order:
        case "!long":
            yield from _words(" ".join(f"word{number}" for number in range(int(rest or 100))))
        case "!think":
            yield from (Think(word) for word in ("Let ", "me ", "see."))
            yield from _words(rest or "I have thought.")
        case "!call" | "!again":
            name, _, arguments = rest.partition(" ")
            yield Call(name, json.loads(arguments or "{}"))
            yield Usage(20, 5)
            yield Done()
        case "!hang":
            yield from [*few, Hang()]
        case "!die":
            yield from [*few, Die()]
        case "!leave":
            yield from [*few, Leave()]
        case "!garbage":
            yield from [*few, Raw(b"data: \xff\x00<garbage>\n\n")]
        case "!error":
            yield from [*few, Fail(rest or "out of memory")]
        case _:
            yield from _words(said)


def _words(text: str) -> Iterator[Step]:
    words = text.split(" ")
    for number, word in enumerate(words):
        yield Say(word if number == 0 else f" {word}")
    yield Usage(len(text) // 4, len(words))
    yield Done()


def _paced(steps: Iterator[Step], rate: float) -> Iterator[Step]:
    for step in steps:
        if rate and isinstance(step, Say | Think):
            yield Pause(1 / rate)
        yield step
