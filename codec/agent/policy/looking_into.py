"""All that a line runs, or may run: its commands, and those inside of its wrappers, as deep as they can be told."""

import re
from collections.abc import Iterator

from codec.agent.policy.entries import Blocked, BlockedEntry, blocking
from codec.agent.policy.names import names
from codec.agent.policy.shell import LONGEST_LINE, ShellCommand, ShellLine, Words, read_line
from codec.agent.policy.wrappers import program_of, unwrapped

DEEPEST = 4
"""Wrappers in wrappers are looked into so far."""
_MOST_WORDS = 200
_MOST_PLACES = 20
_INTERPRETERS = re.compile(r"python[\d.]*w?|pypy[\d.]*")
_OTHER_INTERPRETERS = names(
    "perl ruby node nodejs deno bun php lua luajit tclsh Rscript vim vi nvim ex view emacs ed sqlite3"
)
_CODE = re.compile(r"[^\w./:=@,+-]")
_NAME = re.compile(r"[\w./-]+")


def as_line(command: str | tuple[str, ...]) -> ShellLine:
    """Words are one command, which no shell reads."""
    if isinstance(command, str):
        return read_line(command)
    if not command or not command[0]:
        return ShellLine(())
    if sum(map(len, command)) > LONGEST_LINE or len(command) > _MOST_WORDS:
        return ShellLine((ShellCommand(command[:_MOST_WORDS]),), "long")
    return ShellLine((ShellCommand(command),))


def everything(line: ShellLine, depth: int = 0) -> Iterator[Words]:
    for command in line.commands:
        yield from _within(command.words, depth)


def _within(words: Words, depth: int) -> Iterator[Words]:
    yield words
    wrapped = unwrapped(words) if depth < DEEPEST else None
    if wrapped is not None:
        for inner in wrapped.commands:
            yield from _within(inner, depth + 1)
        if wrapped.line is not None:
            yield from everything(read_line(wrapped.line), depth + 1)


def find_blocked(blocked: Blocked, line: ShellLine) -> tuple[BlockedEntry | None, BlockedEntry | None]:
    """The entry that blocks something in it, and one that perhaps does."""
    if not blocked:
        return None, None
    doubt = None
    for words in everything(line):
        entry, perhaps = blocking(blocked, words)
        if entry is not None:
            return entry, None
        doubt = doubt or perhaps or _among_words(blocked, words)
    return None, doubt


def _among_words(blocked: Blocked, words: Words) -> BlockedEntry | None:
    """Whether one of its words begins something blocked, which it may run in a way that nobody knows here."""
    places = [place for place, word in enumerate(words) if place and program_of(word) in blocked]
    for tried, place in enumerate(places):
        entry, perhaps = blocking(blocked, words[place:])
        if entry or perhaps:
            return entry or perhaps
        if tried == _MOST_PLACES:
            return blocked[program_of(words[place])][0]
    return _in_code(blocked, words)


def _in_code(blocked: Blocked, words: Words) -> BlockedEntry | None:
    """Whether the code that an interpreter is given names something blocked: python -c "os.system('rm x')"."""
    program = program_of(words[0])
    if program not in _OTHER_INTERPRETERS and _INTERPRETERS.fullmatch(program) is None:
        return None
    for word in words[1:]:
        if word is not None and _CODE.search(word):
            for name in map(program_of, _NAME.findall(word)):
                if name in blocked:
                    return blocked[name][0]
    return None
