"""A real server in a real process. Tests wait for it as systemd does: for a datagram that says READY=1."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from tests.house.forking import Forked, can_fork

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "supervisor.py"
DEADLINE = 30.0
LAST_WORDS = 4_000
"""Characters of what a server said, for a test that has failed."""
LISTENING = ("console", "sidekick", "judge", "agent")


class Server:
    def __init__(
        self,
        folder: Path,
        *options: str,
        environ: dict[str, str] | None = None,
        program: Path = PROGRAM,
        command: Sequence[str] = (),
        cold: bool = False,
    ) -> None:
        """`command` takes the place of our own, which gives it free ports and a state directory of its own. `cold`: it
        imports its own code, which takes longer (forking.py)."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.state = folder / "state"
        self.ready_file = folder / "ready.json"
        # Paths of sockets are short; pytest's folders are not.
        name = f"\0troupe-test-{os.getpid()}-{id(self)}"
        self._notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notices.bind(name)
        self._notices.settimeout(DEADLINE)
        own = [word for system in LISTENING for word in ("--set", f"{system}.port=0")]
        own += ["--state-dir", str(self.state), "--ready-file", str(self.ready_file), *options]
        env = {**os.environ, "NOTIFY_SOCKET": "@" + name[1:], **(environ or {})}
        if command or cold or program != PROGRAM or not can_fork(environ or {}):
            pipe = subprocess.PIPE
            words = command or [sys.executable, str(program), *own]
            self.process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, cwd=folder, env=env)
        else:
            self.process = Forked([str(program), *own], cwd=folder, env=env)
        self.said = ""

    def notice(self, beginning: str) -> str:
        """Wait for a datagram that begins like this."""
        while True:
            text = self._notices.recv(4096).decode()
            if text.startswith(beginning):
                return text

    def patient(self, seconds: float) -> "Server":
        """For one that has to be installed first."""
        self._notices.settimeout(seconds)
        return self

    def ready(self) -> "Server":
        self.notice("READY=1")
        return self

    @property
    def url(self) -> str:
        return self.url_of("console")

    def url_of(self, system: str) -> str:
        url = json.loads(self.ready_file.read_text())["listeners"][system]
        assert isinstance(url, str)
        return url

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, timeout=DEADLINE)

    def json(self, path: str) -> Any:
        return self.get(path).json()

    def ended(self) -> int:
        """Its exit code, once it has ended; what it printed is in `said`."""
        out, err = self.process.communicate(timeout=DEADLINE)
        self.said = out + err
        self._notices.close()
        return self.process.returncode

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.ended()


@contextlib.contextmanager
def server(
    folder: Path,
    *options: str,
    environ: dict[str, str] | None = None,
    program: Path = PROGRAM,
    cold: bool = False,
) -> Iterator[Server]:
    """A test that fails here is told what the server said last, and whether it was still running."""
    running = Server(folder, *options, environ=environ, program=program, cold=cold)
    try:
        yield running
    except BaseException as error:
        status = running.process.poll()
        _end(running)
        state = "was running" if status is None else f"had ended with {status}"
        error.add_note(f"The server {state}. It said last:\n{running.said[-LAST_WORDS:]}")
        raise
    finally:
        _end(running)


def _end(running: Server) -> None:
    if running.process.poll() is None:
        running.process.kill()
    if running.process.stdout is not None and not running.process.stdout.closed:
        running.ended()


def troupe(folder: Path, *arguments: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    assert can_fork(environ or {})
    words = [str(PROGRAM), *arguments]
    env = {**os.environ, **(environ or {})}
    with Forked(words, cwd=folder, env=env, stdin=subprocess.DEVNULL) as process:
        try:
            said = process.communicate(timeout=DEADLINE)
        finally:
            process.kill()
    return subprocess.CompletedProcess(words, process.returncode, *said)
