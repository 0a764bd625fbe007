"""Bad days of a real desk: somebody sets the clock back."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.running import ROOT, server
from tests.house.test_desk import options, restarts, until
from tests.ipc.peers import put
from tests.ipc.storm import OURS, THEIRS, Peer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HOUR = 3600.0


class WallClock:
    """Of a server that is started with its environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "offset"
        self.set(0.0)
        path = os.pathsep.join(filter(None, (str(ROOT / "tests" / "house" / "clock"), os.environ.get("PYTHONPATH"))))
        self.environ = {"PYTHONPATH": path, "TROUPE_TEST_CLOCK": str(self._file)}

    def set(self, ahead: float) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(str(ahead))
        draft.rename(self._file)


@pytest.mark.parametrize("kind", [OURS, THEIRS])
def test_a_clock_that_is_set_back_an_hour_costs_no_request_no_attempt_and_no_time(kind: str, tmp_path: Path) -> None:
    base, clock = tmp_path / "base", WallClock(tmp_path)
    settings = [*options(tmp_path), "--set", "ipc.attempt_seconds=20.0"]
    settings += ["--set", "ipc.server=false"] if kind == THEIRS else []
    command = "ping" if kind == OURS else "any"

    def document(id: str, **params: Any) -> dict[str, Any]:  # noqa: A002 - as in the contract
        return {"request_id": id, "command": command, "params": params}

    def detail(id: str) -> Any:  # noqa: A002
        return httpx.get(f"{url}/requests/{id}").json()

    peer = Peer(["server", str(base), str(tmp_path / "log")]) if kind == THEIRS else None
    try:
        with server(tmp_path, *settings, environ=clock.environ) as house:
            house.ready()
            url = house.url_of("ipc")
            until((base / "state" / "client.lock").exists, "the client end does not come")
            for number in range(20):
                put(base / "requests" / f"before-{number}.json", document(f"before-{number}", seconds=0.02, fail=1))
            until(lambda: httpx.get(f"{url}/requests").json()["total"] > 0, "nobody has seen them")
            clock.set(-HOUR)
            soon = {"troupe": {"not_before": time.time() - HOUR + 0.3, "deadline": time.time() - HOUR + 60.0}}
            for number in range(20):
                put(base / "requests" / f"after-{number}.json", document(f"after-{number}") | soon)
            until(lambda: httpx.get(f"{url}/requests?state=success").json()["total"] == 40, "not all succeed")
            assert httpx.get(f"{url}/health").status_code == 200
            assert restarts(house) == {}
            assert detail("after-0")["fact"]["created"] < detail("before-0")["fact"]["created"] - HOUR / 2
            for id in (f"{when}-{number}" for when in ("before", "after") for number in range(20)):  # noqa: A001
                told = detail(id)
                assert len(told["tried"]) == (2 if kind == THEIRS and id.startswith("before") else 1), told
                assert 0.0 <= told["fact"]["seconds"] < 60.0
                for attempt in told["tried"]:
                    assert 0.0 <= attempt["ended"] - attempt["began"] < 60.0, told
            shown = detail("before-3")
            house.stop(signal.SIGKILL)
        put(base / "requests" / "meanwhile.json", document("meanwhile", fail=1))
        if kind == THEIRS:  # it has an error by now, by the files' times an hour before our last life
            until((base / "responses" / "meanwhile.json").exists, "the peer does not answer")
        for room in ("requests", "responses"):
            file = base / room / "meanwhile.json"
            if file.exists():
                os.utime(file, (time.time() - HOUR, time.time() - HOUR))
        with server(tmp_path, *settings, environ=clock.environ) as house:
            house.ready()
            url = house.url_of("ipc")
            until(lambda: httpx.get(f"{url}/requests?state=success").json()["total"] == 41, "not all succeed")
            assert detail("before-3") == shown
            assert json.loads((base / "responses" / "meanwhile.json").read_text())["status"] == "success"
    finally:
        if peer is not None:
            peer.end()
