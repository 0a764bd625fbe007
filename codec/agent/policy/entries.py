"""The entries of allowed_commands and blocked_commands, and what they match.

An entry is the beginning of one simple command, word by word; quotes are read as a shell reads them.

An allowed entry matches exactly: the same words in the same order. So `npm` allows neither ./npm nor /opt/npm.

A blocked entry matches what does the same:
  - the program by its name, in whatever folder, capitals and ending (/bin/rm, ./rm, RM, rm.exe are rm);
  - flags in any order, apart or joined: `rm -rf` is also rm -fr, rm -r -f and rm --recursive --force, with more flags
    in between; a long one also by its beginning (--forc), or with its value behind = or a blank; -R counts as -r;
  - its other words as the first ones that are no flags. If they are there, but behind other words (`git push` in
    git -C x push), it may be that something else is meant: then it is a doubt, and asks.
A last * of a blocked entry stands for any words, as it does without.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from codec.agent.policy.shell import Words
from codec.agent.policy.wrappers import program_of


def is_prefix(prefix: Sequence[str], words: Sequence[str | None]) -> bool:
    """Whether the words begin with exactly these. No word is the beginning of nothing."""
    return 0 < len(prefix) <= len(words) and all(one == other for one, other in zip(prefix, words, strict=False))


@lru_cache(1024)
def allowed_words(entry: str) -> tuple[str, ...]:
    """None, if it cannot be read: then it allows nothing."""
    try:
        return tuple(shlex.split(entry))
    except ValueError:
        return ()


class BlockedEntry(Struct, frozen=True):
    text: str
    program: str
    flags: tuple[str, ...]
    others: tuple[str, ...]


Blocked = Mapping[str, tuple[BlockedEntry, ...]]
"""By their programs; "*": of any program."""


@lru_cache(64)
def blocked_entries(entries: tuple[str, ...]) -> Blocked:
    found: dict[str, tuple[BlockedEntry, ...]] = {}
    for each in filter(None, map(_blocked, entries)):
        found[each.program] = (*found.get(each.program, ()), each)
    return found


def _blocked(entry: str) -> BlockedEntry | None:
    words = list(allowed_words(entry) or entry.split())
    while len(words) > 1 and words[-1] == "*":
        words.pop()
    if not words:
        return None
    flags, others = _sorted(tuple(words[1:]))
    return BlockedEntry(entry, program_of(words[0]), flags, others)


def _sorted(words: Words) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags, and what is none. --a=b is both: --a and b."""
    flags, others = [], []
    for word in words:
        if word is None or word == "--":
            continue
        if len(word) > 1 and word[0] == "-":
            name, sign, value = word.partition("=")
            flags.append(name)
            if sign:
                others.append(value)
        else:
            others.append(word)
    return tuple(flags), tuple(others)


def blocking(blocked: Blocked, words: Words) -> tuple[BlockedEntry | None, BlockedEntry | None]:
    """The entry that blocks it, and one that perhaps does."""
    entries = (*blocked.get(program_of(words[0]), ()), *blocked.get("*", ()))
    if not entries:
        return None, None
    flags, others = _sorted(words[1:])
    perhaps = None
    for entry in entries:
        if not all(_has_flag(flags, flag) for flag in entry.flags):
            continue
        if others[: len(entry.others)] == entry.others:
            return entry, None
        if _are_within(entry.others, others):
            perhaps = perhaps or entry
    return None, perhaps


_LONG_NAMES = {"r": "--recursive", "f": "--force"}
_SHORT_NAMES = {"--recursive": "r", "--force": "f"}


def _has_flag(flags: tuple[str, ...], wanted: str) -> bool:
    if wanted in flags:
        return True
    if wanted.startswith("--"):
        if any(len(flag) > 2 and wanted.startswith(flag) for flag in flags):
            return True
        return wanted in _SHORT_NAMES and _SHORT_NAMES[wanted] in _letters(flags)
    if not re.fullmatch(r"-[A-Za-z]{1,4}", wanted):
        return False
    letters = _letters(flags)
    return all(letter in letters or _is_long(flags, letter) for letter in wanted[1:].replace("R", "r"))


def _letters(flags: tuple[str, ...]) -> str:
    return "".join(flag[1:] for flag in flags if not flag.startswith("--")).replace("R", "r")


def _is_long(flags: tuple[str, ...], letter: str) -> bool:
    long = _LONG_NAMES.get(letter)
    return long is not None and any(len(flag) > 2 and long.startswith(flag) for flag in flags)


def _are_within(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """All of them, in this order, with others between them."""
    left = iter(words)
    return all(each in left for each in wanted)
