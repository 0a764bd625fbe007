"""`troupe tree`: asks the console of a running server for its tree, and shows it in the terminal."""

import http.client
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO
from urllib.parse import urlsplit

import msgspec

from codec.console import Hello
from codec.printable import printable
from program import ready, streams
from program.arguments import Tree
from program.drawing import draw
from program.ending import EndedBySignal, tidily
from program.sifting import sift
from program.terminal import colours_wanted, fitted, is_terminal
from program.trouble import WENT_WRONG, Trouble

DEADLINE = 5.0
LARGEST = 64 * 1024 * 1024
INTERVAL = 1.0

_HOME, _CLEAR_BELOW, _HIDE_CURSOR, _SHOW_CURSOR = "\x1b[H", "\x1b[J", "\x1b[?25l", "\x1b[?25h"


def show(command: Tree, out: TextIO | None = None) -> int:
    """Prints the tree once, or every second until Ctrl-C. Returns the exit code."""
    out = out or sys.stdout
    if command.watch:
        _watch(command, out)
    elif command.json:
        streams.show(_json(command).decode("utf-8", "replace") + "\n", out)
    else:
        streams.show(_picture(command, out) + "\n", out)
    return 0


def address(command: Tree) -> str:
    """The address of the running server's console."""
    if command.url:
        return command.url
    announced = ready.read(command.state_dir / ready.SERVER_FILE)
    if announced is None:
        raise Trouble(
            f"No server is running with its state in {command.state_dir}. Start one with `troupe`, or say where it is "
            "with --state-dir or --url",
            code=WENT_WRONG,
        )
    url = announced.listeners.get("console")
    if url is None:
        why = "down; its log says why" if "console" in announced.listeners else "switched off in its settings"
        raise Trouble(
            f"The server is running (pid {announced.pid}), but its console, which would show the tree, is {why}",
            code=WENT_WRONG,
        )
    return url


def fetch(url: str, *, deadline: float = DEADLINE) -> bytes:
    """The content of `/tree.json` there. All of it must arrive within `deadline` seconds."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=deadline)
    late = threading.Event()
    try:
        connection.connect()
        with _cut_off(connection.sock, deadline, late):
            connection.request("GET", "/tree.json", headers={"Accept": "application/json"})
            with connection.getresponse() as response:
                body = response.read(LARGEST + 1)
                missing = response.length
    except ConnectionRefusedError:
        raise Trouble(f"No server answers at {url}. Start one with `troupe`", code=WENT_WRONG) from None
    except (OSError, http.client.HTTPException) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            raise _too_slow(url, deadline) from None
        raise _not_asked(url, getattr(error, "strerror", None) or str(error) or type(error).__name__) from None
    finally:
        connection.close()
    if late.is_set():
        raise _too_slow(url, deadline)
    if response.status != 200:
        said = printable(f"{response.status} {response.reason}")
        raise Trouble(f"The server at {url} answered {said} instead of its tree; is it a Troupe?", code=WENT_WRONG)
    if len(body) > LARGEST:
        raise Trouble(f"The tree at {url} is larger than {LARGEST:,} bytes; open the page instead", code=WENT_WRONG)
    if missing:
        raise _not_asked(url, "its answer broke off")
    return body


def _json(command: Tree) -> bytes:
    if command.words or command.trouble:
        return msgspec.json.encode(_asked(command))
    return fetch(address(command))


def _picture(command: Tree, out: TextIO) -> str:
    return draw(_asked(command), width=shutil.get_terminal_size().columns, colours=colours_wanted(out))


def _asked(command: Tree) -> Hello:
    """The requested rows. If --trouble finds none, that is good news; if a word alone finds none, it is a mistake."""
    hello = _tree(address(command))
    if not command.words and not command.trouble:
        return hello
    found = sift(hello, command.words, trouble=command.trouble)
    known = found.nodes or (command.trouble and sift(hello, command.words, trouble=False).nodes)
    if not known:
        words = " or ".join(repr(printable(word)) for word in command.words)
        raise Trouble(f"Nothing in the tree is called {words}. `troupe tree` shows the whole tree", code=WENT_WRONG)
    return found


def _tree(url: str) -> Hello:
    try:
        return msgspec.json.decode(fetch(url), type=Hello)
    except msgspec.DecodeError as error:
        raise Trouble(
            f"The answer of {url} is not a tree that this version can read ({error}). Is another version running?",
            code=WENT_WRONG,
        ) from None


def _watch(command: Tree, out: TextIO) -> None:
    terminal = is_terminal(out)
    try:
        with tidily():
            if terminal:
                streams.show(_HIDE_CURSOR, out)
            while True:
                size = shutil.get_terminal_size()
                try:
                    picture = _picture(command, out)
                except Trouble as trouble:  # the server may still start, or come back
                    picture = str(trouble)
                if terminal:
                    picture = f"{_HOME}{_CLEAR_BELOW}{_cropped(picture, size.lines - 1, size.columns)}"
                streams.show(picture + ("\n" if terminal else "\n\n"), out)
                time.sleep(INTERVAL)
    except EndedBySignal:
        pass
    finally:
        if terminal:
            streams.say(_SHOW_CURSOR, out)


def _cropped(picture: str, height: int, width: int) -> str:
    lines = picture.split("\n")
    if len(lines) <= height:
        return picture
    more = fitted(f"… {len(lines) - height + 1} more lines; a taller terminal, or the page, shows them", width)
    return "\n".join([*lines[: height - 1], more.rstrip()])


@contextmanager
def _cut_off(sock: socket.socket, deadline: float, late: threading.Event) -> Iterator[None]:
    """Limits the whole answer. A socket's own timeout covers one read, so a server could send a byte a second for
    ever."""

    def cut() -> None:
        late.set()
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(deadline, cut)
    try:
        timer.start()
        yield
    finally:
        timer.cancel()


def _not_asked(url: str, reason: str) -> Trouble:
    return Trouble(f"The server at {url} could not be asked for its tree: {printable(reason)}", code=WENT_WRONG)


def _too_slow(url: str, deadline: float) -> Trouble:
    return Trouble(f"The server at {url} did not answer within {deadline:g} seconds", code=WENT_WRONG)
