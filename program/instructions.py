"""A file of instructions as requests: what `troupe ipc submit FILE.json` reads.

    [{"id": 1, "title": "...", "description": "...", "requirements": ["...", ...], "code": "...",
      "expected_response": "...", "type": "...", "difficulty": "..."}, ...]      or {"instructions": [...]}

Each becomes a `submitPrompt` whose prompt is its title, its description, its requirements as a list, and its code as a
block, in this order, with a blank line between them; what is missing is left out. `expected_response` becomes the
reference. `type`, `title` and `difficulty` go along in the params, for reports. The request is called RUN-ID.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from codec.decoding import fault
from codec.words import kind
from program.trouble import Trouble

LARGEST = 64 << 20
_TEXTS = ("title", "description", "code", "expected_response", "type", "difficulty")
_ALONG = ("type", "title", "difficulty")
_BYTE = re.compile(r"byte (\d+)")


class Instruction(Struct, frozen=True):
    id: str
    params: dict[str, Any]


def read(path: Path) -> list[Instruction]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise Trouble(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise Trouble(f"{path} is larger than {LARGEST:,} bytes; split it")
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        found = msgspec.json.decode(content)
    except RecursionError:
        raise Trouble(f"{path} cannot be read: it is nested too deeply") from None
    except ValueError as wrong:
        said = _BYTE.sub(lambda at: _line(content[: int(at[1])]), fault(wrong))
        raise Trouble(f"{path} is not JSON: {said}") from None
    listed = found.get("instructions") if isinstance(found, dict) else found
    if not isinstance(listed, list) or not listed:
        raise Trouble(f"{path}: expected a list of instructions, and it is {'empty' if listed == [] else kind(found)}")
    read = list(_all(listed, path))
    ids = [each.id for each in read]
    if twice := {each for each in ids if ids.count(each) > 1} if len(set(ids)) < len(ids) else None:
        raise Trouble(f"{path}: an id stands there more than once: {min(twice)!r}")
    return read


def _line(before: bytes) -> str:
    return f"line {before.count(10) + 1}"  # 10: a line feed


def prompt(fields: dict[str, Any]) -> str:
    parts = [fields.get("title", ""), fields.get("description", "")]
    requirements = fields.get("requirements") or []
    if isinstance(requirements, str):
        requirements = [requirements]
    if requirements:
        parts.append("\n".join(["Requirements:", *(f"- {each}" for each in requirements)]))
    if code := fields.get("code", ""):
        fence = "```"
        while fence in code:
            fence += "`"
        parts.append(f"{fence}\n{code.strip(chr(10))}\n{fence}")
    return "\n\n".join(part for part in parts if part.strip())


def _all(listed: list[Any], path: Path) -> Iterator[Instruction]:
    for number, fields in enumerate(listed, 1):
        where = f"{path}: instruction {number}"
        if not isinstance(fields, dict):
            raise Trouble(f"{where}: expected an object, and it is {kind(fields)}")
        for name in _TEXTS:
            if not isinstance(fields.get(name, ""), str):
                raise Trouble(f"{where}: expected {name} to be a string, and it is {kind(fields[name])}")
        requirements = fields.get("requirements", [])
        well = isinstance(requirements, list) and all(isinstance(each, str) for each in requirements)
        if not well and not isinstance(requirements, str):
            raise Trouble(f"{where}: expected requirements to be a string or an array of strings")
        name = fields.get("id", number)
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise Trouble(f"{where}: expected id to be a string or a whole number, and it is {kind(name)}")
        text = prompt(fields)
        if not text:
            raise Trouble(f"{where}: it asks for nothing; give it a title, a description or code")
        params = {"prompt": text, **{each: fields[each] for each in _ALONG if fields.get(each)}}
        if fields.get("expected_response"):
            params["expected_response"] = fields["expected_response"]
        yield Instruction(str(name), params)
