"""The server's own word, over its port: attempts, what was cancelled, and changes of more than one file.

The port is found through the file that a running server keeps in its state directory, or given. A server is asked only
if it serves our folder. Everything here blocks: call it in a thread. Calls wait for each other, but for none of the
orders over many requests: these may take minutes, and have lines of their own.
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
from troupe.ipc.troubles import DeskError, NoServer, ServesElsewhere

SERVER_FILE = "server.json"
LISTENER = "ipc"
LONGEST = 65_536
LARGEST = 64 * 1024 * 1024
DEADLINE = 5.0
ORDER_DEADLINE = 630.0
"""For an order over very many requests: the server gives its own answer before that."""
CLOSING_SECONDS = 0.1
"""What is closed waits so long for a call that is under way."""
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
        self._address = ""
        """Of the server that is connected."""
        self._closed = False

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
        handled = self._ask("POST", f"/{what}", Handled, msgspec.json.encode(which), apart=True)
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
        """If a call is under way, whoever has made it hangs up."""
        self._closed = True
        if self._lock.acquire(timeout=CLOSING_SECONDS):
            self._hang_up()
            self._lock.release()

    # --

    def _ask(
        self, method: str, path: str, answer: type[T], body: bytes | None = None, *, apart: bool = False
    ) -> T | None:
        """`apart`: on a line of its own, and for longer."""
        with self._lock:
            if self._absent is not None:
                until, why = self._absent
                if self._clock() < until:
                    raise NoServer(why)
            try:
                self._connect()
                if apart:
                    self._exchange("GET", "/totals", None)  # it is still there, or another one is found
                else:
                    status, content = self._exchange(method, path, body)
            except DeskError as wrong:
                self._hang_up()
                if isinstance(wrong, NoServer):
                    self._absent = (self._clock() + ABSENT_SECONDS, str(wrong))
                raise
            finally:
                if self._closed:
                    self._hang_up()
            address = self._address
        if apart:
            status, content = self._exchange_apart(address, method, path, body)
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
        self._address = self._url or self._announced()
        self._connection = _line(self._address, DEADLINE)
        status, content = self._exchange("GET", "/totals", None)
        served = _base_in(content) if status == 200 else ""
        if served and _same(Path(served), self._base):
            return
        where = f"{served} instead" if served else "no folder"
        if self._url is None:
            raise ServesElsewhere(
                f"The running server does not serve {self._base}; it serves {where}. Set ipc.base in its settings"
            )
        correct = f"Name that folder (`--base {shlex.quote(served)}`), or another address" if served else "Correct it"
        raise DeskError(f"The desk at {self._url} does not serve {self._base}; it serves {where}. {correct}")

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
        for last in (False, True):
            connection = self._connection
            assert connection is not None
            fresh = connection.sock is None
            try:
                return _said(connection, method, path, body)
            except (OSError, http.client.HTTPException) as error:
                if last or fresh or isinstance(error, TimeoutError):
                    raise self._silent(error, DEADLINE) from None
                self._hang_up()
                self._connect()
        raise AssertionError

    def _exchange_apart(self, address: str, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        connection = _line(address, ORDER_DEADLINE)
        try:
            return _said(connection, method, path, body)
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error, ORDER_DEADLINE) from None
        finally:
            connection.close()

    def _silent(self, error: Exception, seconds: float) -> NoServer:
        if isinstance(error, TimeoutError):
            return NoServer(
                f"The server of {self._base} is there, and does not answer in {seconds:g} seconds; its log may say why"
            )
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return NoServer(f"The server of {self._base} does not answer ({reason}). Start it with `troupe`")

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _line(address: str, seconds: float) -> http.client.HTTPConnection:
    parts = urlsplit(address)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)


def _said(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None
) -> tuple[int, bytes]:
    headers = {"Accept": "application/json", **({"Content-Type": "application/json"} if body is not None else {})}
    connection.request(method, path, body, headers)
    with connection.getresponse() as response:
        return response.status, response.read(LARGEST + 1)


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
