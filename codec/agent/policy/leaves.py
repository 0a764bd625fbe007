"""What a list of allowed commands says of each command of a line, and of what it wraps.

A finding is one of three: listed (by which entry), not listed, or not clear (why), which means that the command may do
more than its words say, whatever is listed.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from codec.agent.approvals import Remembered
from codec.agent.files import FileRefused
from codec.agent.policy.entries import allowed_words, is_prefix
from codec.agent.policy.looking_into import DEEPEST
from codec.agent.policy.options import odd_option
from codec.agent.policy.paths import normal_path
from codec.agent.policy.shell import UNCLEAR, ShellLine, Words, read_line
from codec.agent.policy.verdicts import shown
from codec.agent.policy.wrappers import is_altering, is_own, unwrapped


class Listing(Struct, frozen=True):
    """The beginning of a command that is allowed, and which rule says so."""

    words: tuple[str, ...]
    rule: str


class Finding(Struct, frozen=True):
    rule: str = ""
    """Which allows it. Empty: it is not listed, or not clear."""
    unclear: str = ""
    """Why, as a sentence; empty: it is clear."""
    kind: str = ""
    words: Words = ()


Listings = Mapping[str, tuple[Listing, ...]]
"""By their first words; of each program the longest first."""
NONE: Listings = {}


@lru_cache(64)
def listings(entries: tuple[str, ...], remembered: tuple[Remembered, ...]) -> Listings:
    every = [Listing(words, f"allowed_commands {entry}") for entry in entries if (words := allowed_words(entry))]
    every += [
        Listing(each.argv, f"remembered {' '.join(each.argv)}")
        for each in remembered
        if each.kind == "command" and each.argv
    ]
    found: dict[str, tuple[Listing, ...]] = {}
    for one in sorted(every, key=lambda one: -len(one.words)):
        found[one.words[0]] = (*found.get(one.words[0], ()), one)
    return found


def findings(line: ShellLine, listed: Listings, depth: int = 0) -> Iterator[Finding]:
    """At least one, of every line that runs something or is not clear."""
    if line.unclear:
        yield Finding(unclear=f"It is not clear what the line runs: {UNCLEAR[line.unclear]}.", kind=line.unclear)
    moved = False
    for command in line.commands:
        words = command.words
        if moved and words[0] is not None and "/" in words[0]:
            yield _unclear("folder", words, "it is another program in another folder")
        if words[0] == "cd":
            moved = True
            if not _stays(words):
                yield _unclear(
                    "folder", words, "it leads to a folder that only the shell knows, or out of the workspace"
                )
        yield from _of(words, listed if command.plain else NONE, depth)


def _of(words: Words, listed: Listings, depth: int) -> Iterator[Finding]:
    whole = tuple(each for each in words if each is not None)
    if len(whole) < len(words):
        yield _unclear("expansion", words, "one of its words is only known when it runs")
        return
    if is_altering(words):
        yield _unclear("altering", words, "it changes what the commands after it mean, or runs what its words hold")
        return
    entry = next((each for each in listed.get(whole[0], ()) if is_prefix(each.words, whole)), None)
    named = len(entry.words) if entry is not None else 1
    wrapped = None if is_own(words) else unwrapped(words)
    if wrapped is not None and not (entry is not None and named > wrapped.reach):
        if not wrapped.understood or depth >= DEEPEST:
            yield _unclear("wrapper", words, "it runs other commands in a way that cannot be judged")
        elif wrapped.line is not None and not wrapped.commands:
            inner = read_line(wrapped.line)
            yield from findings(inner, listed, depth + 1)
            if not inner.commands:
                yield _unclear("wrapper", words, "it runs nothing that can be judged")
        else:
            for each in wrapped.commands:
                yield from _of(each, listed, depth + 1)
    elif (odd := odd_option(whole, named)) is not None:
        yield _unclear("option", words, f"{shown(odd, 60)} makes it run or write other things")
    else:
        yield Finding(entry.rule if entry is not None else "", words=words)


def _unclear(kind: str, words: Words, why: str) -> Finding:
    return Finding(unclear=f"It is not clear what {as_text(words)} does: {why}.", kind=kind, words=words)


def _stays(words: Words) -> bool:
    if len(words) != 2 or words[1] is None or words[1].startswith("-"):
        return False
    try:
        return words[1] == "." or bool(normal_path(words[1].rstrip("/")))
    except FileRefused:
        return False


def as_text(words: Words) -> str:
    return shown(" ".join("…" if each is None else each for each in words))
