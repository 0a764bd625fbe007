"""After a crash, all reports of a running server agree: the console page, the terminal, health and metrics."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from playwright.sync_api import Browser, ViewportSize, expect
from trio_websocket import WebSocketConnection, wrap_client_stream

from tests.house.running import DEADLINE, Server, server, troupe
from tests.sidekick.kit import announce

pytestmark = pytest.mark.slow

LAUNCHER = "troupe/judge/launcher/process"


def nodes(house: Server) -> dict[str, dict[str, Any]]:
    return {node["path"]: node for node in house.json("/tree.json")["nodes"]}


def until(house: Server, wanted: Callable[[dict[str, dict[str, Any]]], bool]) -> dict[str, dict[str, Any]]:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        there = nodes(house)
        if wanted(there):
            return there
        time.sleep(0.05)
    raise AssertionError([(path, node["called"], node["state"]) for path, node in there.items()])


def kill_the_launcher(house: Server) -> None:
    """Its process, as somebody's `kill -9` would; back when it runs again."""
    before = nodes(house)[LAUNCHER]["crashes"]
    pid = house.process.pid
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    (child,) = [int(child) for task in tasks for child in task.read_text().split()]
    os.kill(child, signal.SIGKILL)

    def is_back(there: dict[str, dict[str, Any]]) -> bool:
        node = there.get(LAUNCHER, {"crashes": 0, "state": "gone"})
        return bool(node["crashes"] > before and node["state"] == "running" and "troupe/judge/door" in there)

    until(house, is_back)


@pytest.mark.browser
def test_what_the_page_shows_of_what_fell_three_times_is_what_the_tree_says(tmp_path: Path, chromium: Browser) -> None:
    tall: ViewportSize = {"width": 1280, "height": 2400}  # all rows are in sight
    without = "--set", "agent.enabled=false"  # it has a launcher, too
    with server(tmp_path, *without) as house, chromium.new_context(viewport=tall) as context:
        house.ready()
        page = context.new_page()
        page.goto(house.url)
        expect(page.get_by_role("button", name=re.compile("^Trouble 0"))).to_be_visible()
        for _ in range(3):
            kill_the_launcher(house)
        told = house.json("/tree.json")
        there = {node["path"]: node for node in told["nodes"]}
        assert (there[LAUNCHER]["restarts"], there[LAUNCHER]["crashes"]) == (3, 3)
        assert told["totals"]["trouble"] >= 1
        expect(page.get_by_role("button", name=f"Trouble {told['totals']['trouble']}")).to_be_visible()
        for path, node in there.items():
            if path.startswith("troupe/console/viewers/"):
                continue
            row = page.locator(f'.row[data-key="{path}"]')
            expect(row.locator(".label")).to_have_text(node["called"] or node["name"])
            expect(row.locator(".restarts")).to_have_text(str(node["restarts"]))
            state = "restarted" if node["lately"] == "crashed" else node["state"]
            expect(row.locator("house-pill")).to_have_text(state)
        paths = [note["path"] for note in reversed(told["crashes"])]
        assert paths.count(LAUNCHER) == 3
        expect(page.locator("console-crashes .path")).to_have_text(paths)
        expect(page.locator("console-crashes .what").first).to_have_text("crashed, is restarted")
        lately = [system["lately"] for system in house.json("/health")["systems"]]
        expect(page.locator("console-systems .lately")).to_have_text([said or "" for said in lately])
        assert any(said and "launcher" in said for said in lately)
        metrics = house.get("/metrics").text
        assert f'troupe_actor_restarts_total{{actor="{LAUNCHER}"}} 3.0' in metrics
        assert f"troupe_crashes_total {told['totals']['crashes']}.0" in metrics
        assert f"troupe_trouble {told['totals']['trouble']}.0" in metrics
        assert house.json("/health")["status"] == "ok", "it works again"


async def converse(house: Server) -> None:
    """A script in a room of its own, a page in the default one and a panel are there; who they are is told."""
    streams: list[trio.SocketStream] = []
    async with trio.open_nursery() as nursery:

        async def connect(system: str, path: str) -> WebSocketConnection:
            address = urlsplit(house.url_of(system))
            stream = await trio.open_tcp_stream(address.hostname or "", address.port or 0)
            streams.append(stream)
            return await wrap_client_stream(nursery, stream, address.netloc, path)

        with trio.fail_after(DEADLINE):
            script = await connect("sidekick", "/?session=grid-demo")
            await script.send_message(json.dumps(announce("hero", "h")))
            await script.get_message()
            page = await connect("sidekick", "/")
            await page.send_message(json.dumps(announce("sidekick", "s")))
            panel = await connect("judge", "/panel")
            await panel.send_message('{"type":"ui/requestInit"}')
            await panel.get_message()
            live = await connect("console", "/live")
            await live.get_message()
            names = {"script grid-demo", "page default", "page"}
            await trio.to_thread.run_sync(
                until, house, lambda there: names <= {node["called"] for node in there.values() if node["dynamic"]}
            )
            told = await trio.to_thread.run_sync(nodes, house)
            assert {told[path]["name"] for path in told if path.startswith("troupe/sidekick/rooms/")} == {
                "default",
                "grid-demo",
            }
            drawn = (await trio.to_thread.run_sync(troupe, house.folder, "tree", "--url", house.url)).stdout
            assert "script grid-demo" in drawn
        for stream in streams:
            await trio.aclose_forcefully(stream)
        nursery.cancel_scope.cancel()


def test_peers_panels_and_viewers_are_called_by_role_and_name(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        trio.run(converse, house.ready())
