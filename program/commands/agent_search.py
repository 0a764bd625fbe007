"""`troupe search`: the places in a folder that fit some words.

With a running server it asks that server's index, which is current. Without one it runs the agent's part of the tree
for the time of the search (`AgentMeans.here`). The index stays, so the next search only looks for what has changed.

A folder within a registered workspace is searched with that workspace's index: what lies below the folder comes first,
then the rest. Paths are relative to the folder that is searched, and with --json to the workspace's root.

    standard output    the places, the best first, each with some of its lines; with --json the server's own answer
    standard error     how far an index is while it is being made; why nothing was found

    exit code    when
    0            something was found
    1            nothing was found, or the search could not be made (there is a sentence then)
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path, PurePath
from typing import NamedTuple, TextIO
from urllib.parse import quote, quote_plus, urlencode

import msgspec
import trio

from codec.agent.index.asking import LONGEST_QUERY, SearchResult, SearchResults
from codec.agent.workspaces import IndexStatus, WorkspaceFact
from codec.printable import printable
from program import streams
from program.agent_arguments import SearchFolder
from program.commands.agent import AgentMeans, Visitor, registered, troubles, visited
from program.progress import Progress, bar
from program.status import Status
from program.terminal import colours_wanted
from program.visiting import Finish, run

NOTHING_FOUND = 1
EACH = 0.1
"""Seconds between two looks at an index that is being made."""
BAR = 30
MOST_LINES = 4
MOST_RESULTS = 100
"""Of which those below a folder are chosen: as many as a server gives."""
LONGEST_ADDRESS = 6_000
"""Bytes of the words in it. The server reads no line of a request that is much longer."""
_BOLD, _FAINT, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def search(command: SearchFolder, means: AgentMeans, out: TextIO | None = None, err: TextIO | None = None) -> int:
    shown = out or sys.stdout
    return run(partial(_search, command, means, shown, Status(err or sys.stderr), colours_wanted(shown)))


async def _search(
    command: SearchFolder, means: AgentMeans, out: TextIO, status: Status, colours: bool, stop: Finish
) -> int:
    with troubles(means):
        with stop.waiting():
            async with AsyncExitStack() as stack:
                visitor = await visited(command, means, stack)
                workspace, below = await _workspace_of(visitor, command.workspace)
                if not command.now:
                    await _until_ready(visitor, workspace.id, status)
                most = MOST_RESULTS if below else command.most
                words = asked_words(command.words)
                if words.left_out:
                    status.say(words.left_out)
                asked = urlencode({"q": words.text, "kind": command.kind, "most": most})
                answer = await visitor.ask("GET", f"workspaces/{quote(workspace.id, safe='')}/search?{asked}")
                status.clear()
            return _show(command, answer, below, out, status, colours)
        status.clear()
        return stop.code


class AskedWords(NamedTuple):
    text: str
    left_out: str = ""
    """A sentence, if it is not all of them."""


def asked_words(words: str) -> AskedWords:
    """As much of both ends as a question may have, and its address: some stack traces say first what has happened, and
    some last."""
    if len(words) <= LONGEST_QUERY and len(quote_plus(words)) <= LONGEST_ADDRESS:
        return AskedWords(words)
    first, last = (_fitting(letters) for letters in (iter(words), reversed(words)))
    left_out = f"Only the first {first:,} and the last {last:,} characters are searched for."
    return AskedWords(f"{words[:first]}\n{words[len(words) - last :]}", left_out)


def _fitting(letters: Iterable[str]) -> int:
    """How many of them fit into half of what may be."""
    room = (LONGEST_ADDRESS - len(quote_plus("\n"))) // 2
    for taken, letter in enumerate(letters):
        room -= len(quote_plus(letter))
        if room < 0 or taken == (LONGEST_QUERY - 1) // 2:
            return taken
    return LONGEST_QUERY


async def _workspace_of(visitor: Visitor, folder: Path) -> tuple[WorkspaceFact, str]:
    """The registered workspace that the folder is in, the nearest of several, and the folder's path in it. If it is in
    none it becomes one."""
    known = msgspec.json.decode(await visitor.ask("GET", "workspaces"), type=tuple[WorkspaceFact, ...])
    real = await trio.Path(folder).resolve()
    around = [each for each in known if PurePath(real).is_relative_to(each.path)]
    if not around or not await real.is_dir():
        return await registered(visitor, folder), ""
    nearest = max(around, key=lambda each: len(each.path))
    below = PurePath(real).relative_to(nearest.path).as_posix()
    return nearest, "" if below == "." else below


async def _until_ready(visitor: Visitor, id: str, status: Status) -> None:  # noqa: A002 - as in the contract
    """Until the index is as the disk, or cannot be made: the search says so, then."""
    path = f"workspaces/{quote(id, safe='')}/index"
    index = _read_status(await visitor.ask("GET", f"{path}/status"))
    if index.watching == "off" or index.index_status not in ("ready", "indexing"):
        index = _read_status(await visitor.ask("POST", f"{path}/refresh"))
    while index.index_status == "indexing":
        status.show(_how_far(index))
        await trio.sleep(EACH)
        index = _read_status(await visitor.ask("GET", f"{path}/status"))


def _read_status(answer: bytes) -> IndexStatus:
    return msgspec.json.decode(answer, type=IndexStatus)


def _how_far(index: IndexStatus) -> str:
    if not index.total_files:
        return "looking for files"
    drawn = bar(Progress(index.total_files, index.indexed_files, 0), BAR)
    return f"making the index  {drawn}  {index.indexed_files:,} of {index.total_files:,} files"


# -- what is shown


def _show(command: SearchFolder, answer: bytes, below: str, out: TextIO, status: Status, colours: bool) -> int:
    found = msgspec.json.decode(answer, type=SearchResults)
    if below:
        found = _below_first(found, below, command.most)
        answer = msgspec.json.encode(found)
    if command.json:
        streams.show(answer.decode() + "\n", out)
    else:
        streams.show("\n".join("\n".join(_lines(each, below, colours)) + "\n" for each in found.results), out)
        if found.message:
            status.say(found.message)
        elif not found.results:
            status.say(f"Nothing was found for {command.words}")
    return 0 if found.results else NOTHING_FOUND


def _below_first(found: SearchResults, below: str, most: int) -> SearchResults:
    inside = [each for each in found.results if each.path.startswith(f"{below}/")]
    others = [each for each in found.results if not each.path.startswith(f"{below}/")]
    return msgspec.structs.replace(found, results=tuple([*inside, *others][:most]))


def _lines(found: SearchResult, below: str, colours: bool) -> Iterator[str]:
    """The place first, so that terminals and editors make a link of it."""
    bold, faint, plain = (_BOLD, _FAINT, _PLAIN) if colours else ("", "", "")
    about = " ".join(part for part in (found.kind, found.symbol) if part)
    why = "; ".join(reason.said for reason in found.reasons)
    named = f"  {printable(about)}" if about else ""
    path = os.path.relpath(found.path, below) if below else str(PurePath(found.path))
    yield f"{bold}{printable(path)}:{found.first_line}{plain}{named}"
    if why:
        yield f"    {faint}{printable(why)}{plain}"
    shown = found.lines[:MOST_LINES]
    width = len(str(max((line.number for line in shown), default=0)))
    for line in shown:
        yield f"    {faint}{line.number:>{width}}{plain}  {printable(line.text)}".rstrip()
