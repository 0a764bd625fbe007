"""What a fake says when nobody scripts it: it does what the user's last message says.

anything else         says it again, word by word
!long 500             five hundred words
!endless              words without end, for who has to find it speaking
!brief 500            five hundred different words that are as short as they can be
!think                thinks first
!call NAME {json}     calls that tool; when the result has come, says it again
!rounds [[[NAME, {json}], ...], ...]   in each round of the turn calls these tools at once, and says so; then ends it.
                      A text among them is what it says instead
!again NAME {json}    calls that tool again and again, whatever comes, and whether it may or not
!hang  !die  !leave   after a few words: silence, a reset, a close
!garbage  !error TEXT after a few words: bytes that are no answer; the error of a server that has begun
!refuse 500           no answer but this status
"""

import json
import string
from collections.abc import Iterator
from itertools import count
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

SIGNS = string.digits + string.ascii_letters


def talking(rate: float) -> Play:
    """`rate`: tokens per second; 0: as fast as they are read."""

    def play(asked: Asked) -> Script:
        messages: list[dict[str, Any]] = asked.body.get("messages", [])
        last = messages[-1] if messages else {}
        said = str(last.get("content") or "")
        insists = next((str(each.get("content")) for each in reversed(messages) if each.get("role") == "user"), "")
        if insists.startswith("!again "):
            said = insists
        elif insists.startswith("!rounds "):
            return _paced(_round(messages, json.loads(_first_line(insists).partition(" ")[2])), rate)
        elif last.get("role") == "tool":
            return _paced(_words(f"The tool says: {said}"), rate)
        order, _, rest = _first_line(said).partition(" ")
        if order == "!refuse":
            status = int(rest) if rest.isdigit() else 500
            return Refuse(status, json.dumps({"error": "as you said"}).encode())
        return _paced(_ordered(order, rest, said), rate)

    return play


def _first_line(said: str) -> str:
    """What follows is context, which the turn has added."""
    return said.strip().partition("\n")[0]


def _round(messages: list[dict[str, Any]], rounds: list[list[str | tuple[str, Any]]]) -> Iterator[Step]:
    """The next one, or what is left of it: as many calls are done as have told their result since the user's words."""
    roles = [str(each.get("role")) for each in messages]
    done = roles[len(roles) - roles[::-1].index("user") :].count("tool")
    for number, steps in enumerate(rounds, 1):
        calls = [step for step in steps if not isinstance(step, str)]
        if done < len(calls):
            texts = [step for step in steps if isinstance(step, str)] or [f"This is round {number}."]
            yield from (Say(f"{word} ") for text in texts for word in text.split(" "))
            for place, (name, arguments) in enumerate(calls[done:], done):
                yield Call(name, arguments, f"call_{number}_{place}")
            yield Usage(20, 5)
            yield Done()
            return
        done -= len(calls)
    yield from _words(f"All {len(rounds)} rounds are done.")


def _ordered(order: str, rest: str, said: str) -> Iterator[Step]:
    few: list[Step] = [Say(word) for word in ("Just ", "a ", "moment, ")]
    match order:
        case "!long":
            yield from _words(" ".join(f"word{number}" for number in range(int(rest or 100))))
        case "!endless":
            yield from (Say(f"word{number} ") for number in count())
        case "!brief":
            yield from _words(" ".join(brief(number) for number in range(int(rest or 100))))
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


def brief(number: int) -> str:
    found = SIGNS[number % len(SIGNS)]
    while number := number // len(SIGNS):
        found = SIGNS[number % len(SIGNS)] + found
    return found


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
