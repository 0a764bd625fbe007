"""The library beside the real server: its client end tries again, and tells all attempts. Whoever answers is ours."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from codec.ipc import Failure, Success, file_of, read_request, write_response
from codec.ipc.desk import Selection
from codec.settings import IpcSettings
from program import ready
from tests.patience import PATIENCE
from tests.troupe.ipc.peer import Peer
from troupe.ipc import Desk, IdTaken
from troupe.ipc.office import Office
from troupe.ipc.whereabouts import USUAL

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


class Answering(Peer):
    """Only the server's part: an answer for each time that there is none."""

    def _answer(self, request_id: str) -> None:
        if (self.base / "responses" / file_of(request_id)).exists():
            return
        try:
            request = read_request((self.base / "requests" / file_of(request_id)).read_bytes(), request_id)
        except FileNotFoundError:  # it was cancelled meanwhile
            return
        if request.command != "never" and request_id not in self._over:
            number = self.attempts[request_id] = self.attempts.get(request_id, 0) + 1
            outcome = self.outcome(request.command, dict(request.params), number)
            self._put("responses", request_id, write_response(request_id, outcome))
            if isinstance(outcome, Success):
                self._over.add(request_id)

    def serve(self) -> None:
        while not self.stopped.wait(0.003):
            self.look()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """A folder with a server's client end, and somebody who answers."""
    with server(tmp_path):
        peer = Answering(tmp_path / "base")
        thread = threading.Thread(target=peer.serve)
        with Desk.blocking(tmp_path / "base", state=tmp_path) as desk:  # it looks at what was there before it came
            desk.submit("echo", id="first")
        office = Office(tmp_path / "base", tmp_path)
        while office.detail("first") is None:
            time.sleep(0.01)
        office.close()
        thread.start()
        try:
            yield tmp_path / "base"
        finally:
            peer.stopped.set()
            thread.join()


@contextmanager
def server(place: Path) -> Iterator["subprocess.Popen[bytes]"]:
    settings = {
        "ipc.base": place / "base", "ipc.port": 0, "ipc.server": "false", "ipc.backoff": "immediate",
        "console.enabled": "false", "sidekick.enabled": "false", "judge.enabled": "false",
        "agent.enabled": "false",
    }  # fmt: skip
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    command = [sys.executable, "supervisor.py", "serve", "--state-dir", str(place), "--log-level", "error", *words]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            while (told := ready.read(place / ready.SERVER_FILE)) is None or not told.listeners.get("ipc"):
                assert process.poll() is None
                time.sleep(0.01)
            yield process
        finally:
            process.terminate()


async def test_every_attempt_is_in_the_result(served: Path) -> None:
    async with Desk(served, state=served.parent) as desk:
        with trio.fail_after(30):
            flaky = await desk.run("flaky")
            failed = await desk.run("fail")
    assert flaky.ok
    assert [each.outcome for each in flaky.attempts] == [Failure("busy"), Success({"tries": 2})]
    assert (failed.ok, failed.error, len(failed.attempts)) == (False, "busy", 3)


async def test_what_is_cancelled_by_the_server_is_told(served: Path) -> None:
    async with Desk(served, state=served.parent, rescan=0.2) as desk:
        ticket = await desk.submit("never")
        results = []

        async def wait() -> None:
            results.append(await ticket.wait())

        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                while await desk.detail(ticket.id) is None:  # noqa: ASYNC110 - it happens in another process
                    await trio.sleep(0.01)
                assert await ticket.cancel()
        (result,) = results
        assert (result.ok, result.cancelled) == (False, True)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_what_is_cancelled_after_the_server_has_ended_is_not_run_by_the_next_one(
    tmp_path: Path, end: signal.Signals
) -> None:
    ids = ["r1", "r2", "r3"]
    with (
        Desk.blocking(tmp_path / "base", state=tmp_path) as desk,
        Desk.blocking(tmp_path / "base", state=tmp_path) as other,
    ):
        with server(tmp_path) as process:
            for name in ids:
                desk.submit("never", id=name)
            office = Office(tmp_path / "base", tmp_path)
            while any(office.detail(name) is None for name in ids):
                time.sleep(0.01)
            office.close()
            process.send_signal(end)
            process.wait(PATIENCE)
        assert desk.cancel(ids[:2]) == ids[:2]
        assert all(one.wait(name).cancelled for one in (desk, other) for name in ids[:2])
        (tmp_path / ready.SERVER_FILE).unlink(missing_ok=True)  # a kill leaves it
        with server(tmp_path):
            office = Office(tmp_path / "base", tmp_path)

            def states() -> list[str]:
                return [detail.fact.state if detail else "unknown" for detail in map(office.detail, ids)]

            while "waiting" in states()[:2]:  # the port answers before the client end has begun
                time.sleep(0.01)
            assert states()[:2] == ["cancelled", "cancelled"]
            assert states()[2] in ("waiting", "polling")
            office.close()
            assert all(one.wait(name).cancelled for one in (desk, other) for name in ids[:2])
            assert os.listdir(tmp_path / "base" / "requests") == ["r3.json"]


async def test_what_is_requeued_goes_on_and_what_is_archived_is_still_known(served: Path) -> None:
    async with Desk(served, state=served.parent) as desk:
        with trio.fail_after(30):
            failed = await desk.run("fail", id="r1")
            assert (await desk.order("requeue", Selection(ids=("r1",)))).ids == ("r1",)
            again = await desk.wait("r1")
            assert len(again.attempts) == 2 * len(failed.attempts)
            done = await desk.run("echo", {"prompt": "x"}, id="r2")
            while (detail := await desk.detail("r2")) is None or detail.fact.state != "success":  # noqa: ASYNC110
                await trio.sleep(0.01)
            assert (await desk.order("archive", Selection(ids=("r2",)))).ids == ("r2",)
            assert not (served / "requests" / "r2.json").exists()
            assert (await desk.wait("r2")).data == done.data


async def test_a_crowd_is_answered_while_the_server_is_killed_and_started_again(tmp_path: Path) -> None:
    peer = Answering(tmp_path / "base")
    thread = threading.Thread(target=peer.serve)
    found: set[str] = set()
    try:
        async with Desk(tmp_path / "base", state=tmp_path, history="failed") as desk:
            tickets = await desk.submit_many([desk.made("flaky", {}, f"r{n}", {}) for n in range(100)])
            with trio.fail_after(60):
                with server(tmp_path) as process:
                    while await desk.detail("r99") is None:  # noqa: ASYNC110 - it happens in another process
                        await trio.sleep(0.01)
                    thread.start()
                    async for result in desk.as_completed(tickets, patience=None):
                        found.add(result.id)
                        if len(found) == 20:
                            process.kill()
                            break
                with server(tmp_path):
                    async for result in desk.as_completed(tickets, patience=None):
                        found.add(result.id)
                        assert result.ok
    finally:
        peer.stopped.set()
        thread.join()
    assert len(found) == 100


def test_the_library_and_the_settings_mean_the_same_folder() -> None:
    assert Path(IpcSettings(enabled=True).folder) == USUAL


async def test_other_params_under_an_id_are_refused_though_the_request_has_been_put_away_by_its_editor(
    served: Path,
) -> None:
    async with Desk(served, state=served.parent) as desk:
        with trio.fail_after(30):
            await desk.run("echo", {"prompt": 1}, id="r1")
            (served / "requests" / "r1.json").unlink()
            assert (await desk.run("echo", {"prompt": 1}, id="r1")).data == {"content": 1}
            with pytest.raises(IdTaken, match="with other params"):
                await desk.submit("echo", {"prompt": 2}, id="r1")
