"""The server's own word, over its port: attempts, what was cancelled, and changes of more than one file.

The port is found through the file that a running server keeps in its state directory, or given. A server is asked only
if it serves our folder. Everything here blocks: call it in a thread. Calls wait for each other.
"""

import http.client
import os
import shlex
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from codec.ipc.desk import DeskTotals, EditorAnswer, EditorOrder, EditorWanted, Handled, RequestDetail, Selection
from troupe.ipc.troubles import DeskError, NoServer

SERVER_FILE = "server.json"
LISTENER = "ipc"
LONGEST = 65_536
LARGEST = 64 * 1024 * 1024
DEADLINE = 5.0
ABSENT_SECONDS = 1.0
"""For so long a server that was not there is not looked for again."""

T = TypeVar("T")


class _Announcement(msgspec.Struct, frozen=True):
    listeners: dict[str, str | None]


class Office:
    def __init__(
        self,
        base: Path,
        state_dir: Path | None,
        url: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        elsewhere: Callable[[], int | None] = lambda: None,
    ) -> None:
        """`elsewhere`: the process of a server of ours, wherever its state is."""
        self._base = base
        self._state_dir = state_dir
        self._url = url
        self._clock = clock
        self._elsewhere = elsewhere
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._absent: tuple[float, str] | None = None

    def detail(self, id: str) -> RequestDetail | None:  # noqa: A002 - as in the contract
        """None: the server knows no such request. Raises NoServer."""
        return self._ask("GET", f"/requests/{quote(id, safe='')}", RequestDetail)

    def totals(self) -> DeskTotals:
        found = self._ask("GET", "/totals", DeskTotals)
        if found is None:
            raise NoServer(f"What answers for {self._base} has no totals; is it another version of Troupe?")
        return found

    def order(self, what: str, which: Selection) -> Handled:
        """`what`: requeue, cancel or archive."""
        handled = self._ask("POST", f"/{what}", Handled, msgspec.json.encode(which))
        if handled is None:
            raise NoServer(f"What answers for {self._base} cannot {what}; is it another version of Troupe?")
        return handled

    def editor(self, order: EditorOrder) -> str:
        """What is done about it, in a sentence."""
        answer = self._ask("POST", "/editor", EditorAnswer, msgspec.json.encode(EditorWanted(order=order)))
        if answer is None:
            raise NoServer(f"What answers for {self._base} cannot {order} an editor; is it another version of Troupe?")
        return answer.editor

    @property
    def is_there(self) -> bool:
        """When it was last asked."""
        return self._connection is not None

    def close(self) -> None:
        with self._lock:
            self._hang_up()

    # --

    def _ask(self, method: str, path: str, answer: type[T], body: bytes | None = None) -> T | None:
        with self._lock:
            if self._absent is not None:
                until, why = self._absent
                if self._clock() < until:
                    raise NoServer(why)
            try:
                self._connect()
                status, content = self._exchange(method, path, body)
            except DeskError as wrong:
                self._hang_up()
                if isinstance(wrong, NoServer):
                    self._absent = (self._clock() + ABSENT_SECONDS, str(wrong))
                raise
        if status == 404:
            return None
        if status != 200:
            raise DeskError(_refusal(status, content))
        try:
            return msgspec.json.decode(content, type=answer)
        except msgspec.DecodeError:
            raise NoServer(
                f"What answers for {self._base} says something that this version cannot read; is it another version of "
                "Troupe?"
            ) from None

    def _connect(self) -> None:
        """To the server of our folder, also where its address was given. Raises DeskError if somebody else is there:
        whoever gives an address means that server, and files alone are no answer."""
        if self._connection is not None:
            return
        self._connection = self._line(self._url or self._announced())
        status, content = self._exchange("GET", "/totals", None)
        served = _base_in(content) if status == 200 else ""
        if served and _same(Path(served), self._base):
            return
        where = f"{served} instead" if served else "no folder"
        if self._url is None:
            raise NoServer(
                f"The running server does not serve {self._base}; it serves {where}. Set ipc.base in its settings"
            )
        correct = f"Name that folder (`--base {shlex.quote(served)}`), or another address" if served else "Correct it"
        raise DeskError(f"The desk at {self._url} does not serve {self._base}; it serves {where}. {correct}")

    def _line(self, url: str) -> http.client.HTTPConnection:
        parts = urlsplit(url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=DEADLINE)

    def _announced(self) -> str:
        help_ = "Start it with `troupe --set ipc.enabled=true`, or say where its state is"
        if self._state_dir is None:
            raise NoServer(f"No server can be found for {self._base}, there being no home directory. {help_}")
        try:
            with (self._state_dir / SERVER_FILE).open("rb") as file:
                listeners = msgspec.json.decode(file.read(LONGEST), type=_Announcement).listeners
        except (OSError, msgspec.DecodeError):
            if (pid := self._elsewhere()) is not None:
                raise NoServer(
                    f"Process {pid} serves {self._base}, and has its state in another directory than "
                    f"{self._state_dir}; say where (`--state-dir DIR`), or at which address its desk is (`--url URL`)"
                ) from None
            raise NoServer(f"No server is running with its state in {self._state_dir}. {help_}") from None
        url = listeners.get(LISTENER)
        if url is None:
            raise NoServer(
                "A server is running, but its desk is switched off or down. Switch it on with ipc.enabled = true in "
                "its settings; if it is on, its log says why it is down"
            )
        return url

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        """Once more on a new connection, if the old one had been closed meanwhile: another server may listen there."""
        headers = {"Accept": "application/json", **({"Content-Type": "application/json"} if body is not None else {})}
        for last in (False, True):
            connection = self._connection
            assert connection is not None
            fresh = connection.sock is None
            try:
                connection.request(method, path, body, headers)
                with connection.getresponse() as response:
                    content = response.read(LARGEST + 1)
                    return response.status, content
            except (OSError, http.client.HTTPException) as error:
                if last or fresh or isinstance(error, TimeoutError):
                    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
                    raise NoServer(
                        f"The server of {self._base} does not answer ({reason}). Start it with `troupe`"
                    ) from None
                self._hang_up()
                self._connect()
        raise AssertionError

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _base_in(content: bytes) -> str:
    try:
        return msgspec.json.decode(content, type=DeskTotals).base
    except msgspec.DecodeError:
        return ""


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return os.path.abspath(one) == os.path.abspath(other)


def _refusal(status: int, content: bytes) -> str:
    said: Any = content[:500].decode("utf-8", "replace").strip()
    try:
        fields = msgspec.json.decode(content)
        said = fields.get("error") or fields.get("message") or said if isinstance(fields, dict) else said
    except msgspec.DecodeError:
        pass
    return f"The server refused ({status}): {said}" if said else f"The server refused, with status {status}"
