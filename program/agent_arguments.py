"""The command line of `troupe ask`, `troupe search` and `troupe sessions`: what their words mean, as values."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from msgspec import Struct

from codec.agent.index.asking import SearchKind
from program import places, values

ASK = "ask the agent about the files of a folder, here in the terminal"
SEARCH = "find the places in a folder that go with some words"
SESSIONS = "list the agent's sessions, or show the link to its page"


class AskAgent(Struct, frozen=True):
    question: str
    workspace: Path
    session: str | None
    """None: a new one."""
    config: Path | None
    overrides: tuple[str, ...]
    state_dir: Path
    json: bool


class SearchFolder(Struct, frozen=True):
    words: str
    workspace: Path
    kind: SearchKind
    most: int
    now: bool
    """With what the index has by now."""
    config: Path | None
    overrides: tuple[str, ...]
    state_dir: Path
    json: bool


AgentCommand = AskAgent | SearchFolder
"""What runs the agent itself if no server runs."""


class ListSessions(Struct, frozen=True):
    workspace: Path | None
    """None: those of all."""
    state_dir: Path
    json: bool
    link: bool


def add_ask(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "With a running server, the session is its own, and its page shows it as it goes on. Without one, the same "
        "parts run here for this one turn, and the session is there when the server is started. The answer goes to "
        "standard output, what the agent does to standard error. What it asks before it acts is asked here, at the "
        "terminal; without one, and with --json, it is declined. Ctrl-C stops the turn. exit codes: 0 it was answered, "
        "1 it failed or could not be asked."
    )
    parser.add_argument(
        "question",
        type=values.question,
        metavar="QUESTION",
        help='such as "where is the configuration read?"; - reads it from standard input',
    )
    parser.add_argument(
        "--workspace", type=values.path, metavar="DIR", help="the folder it is about (default: this one)"
    )
    parser.add_argument("--session", type=values.session, metavar="ID", help="go on with this session")
    parser.add_argument("--json", action="store_true", help="print the session's events, one JSON object a line")


def add_search(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Words, names or a whole sentence; the parts of a name count, too. The index is made when a folder is searched "
        "for the first time, and what has changed since is read before the answer. What git ignores is left out, and "
        "so are secrets. exit codes: 0 something was found, 1 nothing was found, or the search failed."
    )
    parser.add_argument("words", nargs="+", metavar="WORD", help='such as: parse config, or "where is the port read"')
    parser.add_argument("--workspace", type=values.path, metavar="DIR", help="the folder to search (default: this one)")
    parser.add_argument(
        "--kind", choices=get_args(SearchKind), default="all", help="only definitions, only text, ... (default: all)"
    )
    parser.add_argument(
        "--most", type=values.whole(1, 100), default=10, metavar="N", help="at most so many places (default: 10)"
    )
    parser.add_argument("--now", action="store_true", help="do not wait for an index that is being made")
    parser.add_argument("--json", action="store_true", help="print the server's own JSON")


def read_search(asked: argparse.Namespace, refuse: Callable[[str], object]) -> SearchFolder:
    words = " ".join(asked.words).strip()
    workspace = asked.workspace or places.here()
    _refuse_bytes(refuse, words, workspace)
    if not words:
        refuse("expected words to look for")
    return SearchFolder(
        words=words,
        workspace=workspace,
        kind=asked.kind,
        most=asked.most,
        now=asked.now,
        config=asked.config,
        overrides=tuple(asked.overrides),
        state_dir=asked.state_dir or places.state_dir(),
        json=asked.json,
    )


def add_sessions(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description} It needs a running server."
    parser.add_argument("--workspace", type=values.path, metavar="DIR", help="only those of this folder")
    style = parser.add_mutually_exclusive_group()
    style.add_argument("--json", action="store_true", help="print the server's own JSON")
    style.add_argument("--link", action="store_true", help="print the link that opens the page, with the token in it")


def read_ask(asked: argparse.Namespace, refuse: Callable[[str], object]) -> AskAgent:
    workspace = asked.workspace or places.here()
    _refuse_bytes(refuse, asked.question, asked.session or "", workspace)
    return AskAgent(
        question=asked.question,
        workspace=workspace,
        session=asked.session,
        config=asked.config,
        overrides=tuple(asked.overrides),
        state_dir=asked.state_dir or places.state_dir(),
        json=asked.json,
    )


def read_sessions(asked: argparse.Namespace, refuse: Callable[[str], object]) -> ListSessions:
    _refuse_bytes(refuse, asked.workspace or "")
    return ListSessions(asked.workspace, asked.state_dir or places.state_dir(), asked.json, asked.link)


def _refuse_bytes(refuse: Callable[[str], object], *words: str | Path) -> None:
    """Python carries bytes that are not UTF-8 as halves of surrogate pairs, which no JSON and no address can hold."""
    for word in map(str, words):
        try:
            word.encode()
        except UnicodeEncodeError:
            refuse(f"expected words and paths in UTF-8, got {word!r}")
