"""What tools tell a model, as text: lines with their numbers, hits, definitions. `builtin` reads the same texts back,
so each form is written and read here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from codec.agent.symbols import Definition
from codec.words import counted

LONGEST_SHOWN = 300
"""Characters of one line of a file in a list of hits."""


class FoundPlace(Struct, frozen=True):
    """A line of a file; `what`: the line itself."""

    path: str
    line: int
    what: str = ""
    kind: str = ""
    """Of a definition."""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class FileExcerpt(Struct, frozen=True):
    """Lines of a file."""

    path: str
    first_line: int
    lines: tuple[str, ...]
    whole: int
    """Lines of the whole file."""


def numbered(text: str, first_line: int) -> str:
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(text.split("\n"), first_line))


def file_text(path: str, text: str, first_line: int, lines: int) -> str:
    """As read_file tells it."""
    if not text:
        return (
            f"{path} is empty."
            if lines == 0
            else f"{path} has {counted(lines, 'line')}; there is nothing from line {first_line} on."
        )
    text = text.removesuffix("\n")
    last = first_line + text.count("\n")
    return f"{path}, lines {first_line} to {last} of {max(lines, last)}:\n{numbered(text, first_line)}"


_FILE = re.compile(r"(?s)(.+?), lines (\d+) to (\d+) of (\d+):\n(.*)")


def read_file_text(told: str) -> FileExcerpt | None:
    found = _FILE.fullmatch(told)
    if found is None:
        return None
    lines = tuple(line.partition("\t")[2] for line in found[5].split("\n") if re.match(r"\d+\t", line))
    return FileExcerpt(found[1], int(found[2]), lines, int(found[4]))


def hits_text(words: Sequence[str], hits: Iterable[tuple[str, int, Sequence[tuple[int, str]]]], most: int) -> str:
    """As search_text tells it: path, number of lines, and some of them."""
    blocks = []
    for path, count, lines in hits:
        shown = "\n".join(f"  {number}\t{line.strip()[:LONGEST_SHOWN]}" for number, line in lines)
        blocks.append(f"{path} ({counted(count, 'line')})\n{shown}")
    named = ", ".join(words)
    if not blocks:
        return f"No file of the workspace has: {named}"
    more = " (there may be more)" if len(blocks) >= most else ""
    return f"{counted(len(blocks), 'file')}{more} for: {named}\n" + "\n".join(blocks)


_HIT = re.compile(r"(?P<path>\S.*) \((?P<count>[\d,]+) lines?\)|  (?P<number>\d+)\t(?P<line>.*)")


def read_hits_text(told: str) -> Iterator[FoundPlace]:
    path = ""
    for line in told.split("\n")[1:]:
        found = _HIT.fullmatch(line)
        if found is None:
            continue
        if found["path"]:
            path = found["path"]
        elif path:
            yield FoundPlace(path, int(found["number"]), found["line"])


def definitions_text(name: str, found: Sequence[tuple[str, Definition]]) -> str:
    """As search_symbols tells it."""
    if not found:
        return f"No definition of {name} was found."
    lines = (f"{path}:{each.line}\t{each.kind} {each.name}\t{each.text[:LONGEST_SHOWN]}" for path, each in found)
    return f"{counted(len(found), 'definition')} for: {name}\n" + "\n".join(lines)


_DEFINITION = re.compile(r"(?P<path>.+):(?P<line>\d+)\t(?P<kind>\w+) (?P<name>[^\t]+)\t(?P<text>.*)")


def read_definitions_text(told: str) -> Iterator[FoundPlace]:
    for line in told.split("\n")[1:]:
        if (found := _DEFINITION.fullmatch(line)) is not None:
            yield FoundPlace(found["path"], int(found["line"]), found["text"], found["kind"], found["name"])


def entries_text(folder: str, entries: Sequence[tuple[str, int]], most: int) -> str:
    """As list_files tells it: a folder ends with /."""
    where = folder or "the workspace"
    if not entries:
        return f"{where} has no files."
    more = f"\n(the first {most:,}; name a folder to see the rest)" if len(entries) >= most else ""
    return f"{counted(len(entries), 'entry', 'entries')} in {where}:\n" + "\n".join(path for path, _ in entries) + more


def read_entries_text(told: str) -> tuple[str, ...]:
    return tuple(line for line in told.split("\n")[1:] if line and not line.startswith("(the first "))


class RunExcerpt(Struct, frozen=True):
    """A command that was run, as far as a model is told of it."""

    command: str
    ended: str
    """A sentence."""
    exit_code: int | None
    """None: it did not end by itself, or did not begin."""
    outputs: tuple[tuple[str, str], ...]
    """Of each stream that said something."""

    @property
    def stdout(self) -> str:
        return dict(self.outputs).get("stdout", "")


def run_text(command: str, ended: str, outputs: Sequence[tuple[str, str]]) -> str:
    """As execute_command tells it."""
    told = [f"[{stream}]\n{text.rstrip()}" for stream, text in outputs if text.strip()]
    return "\n".join([f"$ {command}", ended, *(told or ["It has said nothing."])])


_RUN = re.compile(r"(?s)\$ (.+?)\n(It (?:ended with exit code (-?\d+|None)|could not|did not)[^\n]*)(?:\n(.*))?")
_STREAM = re.compile(r"(?m)^\[(stdout|stderr)\]\n")


def read_run_text(told: str) -> RunExcerpt | None:
    found = _RUN.fullmatch(told)
    if found is None:
        return None
    _, *parts = _STREAM.split(found[4] or "")
    code = int(found[3]) if found[3] and found[3] != "None" else None
    return RunExcerpt(found[1], found[2], code, tuple(zip(parts[::2], parts[1::2], strict=True)))
