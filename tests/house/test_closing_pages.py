"""Pages and scripts come and go. In whatever way they go, it is never reported as a fault."""

import base64
import json
import socket
import struct
import time
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import trio
from playwright.sync_api import Browser

from tests.house.running import DEADLINE, Server, server
from tests.sidekick.kit import announce, spawn

pytestmark = pytest.mark.slow

RESET = struct.pack("ii", 1, 0)
ROLES = [announce(role, role) for role in ("sidekick", "hero")]
GRID = spawn("grid", "g", numColumns=3, numRows=3)
SPEECHES: dict[str, tuple[str, list[bytes]]] = {
    "console": ("/live", [b"hello?"]),
    "judge": (
        "/panel",
        [b'{"type":"ui/requestInit"}', b'{"type":"ui/updateSettings","timeoutMs":900}', b'{"type":"ui/runAll"}', b"?"],
    ),
    "sidekick": ("/", [json.dumps(message).encode() for message in (*ROLES, GRID)]),
    "agent": (
        "/v1/sessions/{session}/stream",
        [
            b'{"type":"client.hello","resume_from":0}',
            b'{"type":"client.user_message","message":"what is here?","message_id":"a"}',
            b'{"type":"client.cancel"}',
            b"?",
        ],
    ),
}
MOMENTS = ("at once", "when it is let in", "in the middle of what it is told")
WAYS = ("a reset", "the end of what it sends", "a closed socket", "1001 and a closed socket")
TIMES = (0, 1, 40)
"""So often it says all it has to say before."""


def frame(opcode: int, data: bytes) -> bytes:
    length = bytes([0x80 | len(data)]) if len(data) < 126 else struct.pack(">BH", 0x80 | 126, len(data))
    return bytes([0x80 | opcode]) + length + b"\0\0\0\0" + data


async def visit(
    house: Server, system: str, moment: str, way: str, times: int, *, session: str = "", token: str = ""
) -> None:
    path, says = SPEECHES[system]
    path = path.format(session=session)
    address = urlsplit(house.url_of(system))
    key = base64.b64encode(bytes(range(16))).decode()
    head = f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    head += f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    head += f"Authorization: Bearer {token}\r\n\r\n" if token else "\r\n"
    stream = await trio.open_tcp_stream(address.hostname or "", address.port or 0)
    with trio.fail_after(DEADLINE), stream.socket:
        try:
            await stream.send_all(head.encode())
            if moment != "at once":
                await stream.receive_some()
            await stream.send_all(b"".join(frame(1, text) for text in says) * times)
            if moment == "in the middle of what it is told" and (times or system == "console"):
                await stream.receive_some()
            if way == "1001 and a closed socket":
                await stream.send_all(frame(8, struct.pack(">H", 1001)))
            if way == "the end of what it sends":
                await stream.send_eof()
                while await stream.receive_some():
                    pass
        except trio.BrokenResourceError:  # the server was first
            pass
        if way == "a reset":
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def a_session(house: Server, folder: Path) -> dict[str, str]:
    """A session of the agent, and the token that opens it."""
    folder.mkdir()
    token = (house.state / "agent.token").read_text().strip()
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=house.url_of("agent"), headers=headers, timeout=DEADLINE) as client:
        workspace = client.post("/v1/workspaces/register", json={"path": str(folder)}).json()["id"]
        session = client.post("/v1/sessions", json={"workspace_id": workspace}).json()["id"]
    return {"session": session, "token": token}


def nobody_missed_them(house: Server) -> None:
    """All have left, and nothing was said of it."""
    crowds = ("console/viewers", "judge/panels", "sidekick/peers", "agent/clients")
    with httpx.Client(base_url=house.url) as client:
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:  # the last of them may not have been missed yet
            tree = client.get("/tree.json", timeout=DEADLINE).json()
            if not any(f"/{crowd}/" in node["path"] for node in tree["nodes"] for crowd in crowds):
                break
        else:
            raise AssertionError(f"somebody is still there: {tree['nodes']}")
    assert (tree["dead"], tree["crashes"]) == ([], [])
    assert (tree["totals"]["dead_letters"], tree["totals"]["restarts"]) == (0, 0)
    assert house.stop() == 0
    lines = [json.loads(line) for line in house.said.splitlines()]
    assert [line for line in lines if line["level"] not in ("debug", "info")] == []


def test_however_pages_are_closed_there_is_no_warning_and_no_dead_letter(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        for name in ("a", "b"):
            tests = [{"input": "1\n", "output": "1\n"}] * 3
            task = {"name": name, "group": "g", "url": f"https://x.y/{name}", "timeLimit": 1000, "memoryLimit": 256}
            assert httpx.post(house.url_of("judge"), json=task | {"tests": tests}).status_code == 200

        known = a_session(house, tmp_path / "work")

        async def visit_all() -> None:
            for times in TIMES:
                async with trio.open_nursery() as nursery:
                    for system, moment, way in product(SPEECHES, MOMENTS, WAYS):
                        more = known if system == "agent" else {}
                        nursery.start_soon(partial(visit, house, system, moment, way, times, **more))

        trio.run(visit_all)
        nobody_missed_them(house)


@pytest.mark.timeout(200)
def test_a_thousand_clients_of_the_agent_come_and_leave_in_every_way(tmp_path: Path) -> None:
    with server(tmp_path) as house:
        house.ready()
        known = a_session(house, tmp_path / "work")

        async def visit_all() -> None:
            room = trio.CapacityLimiter(60)

            async def one(moment: str, way: str, times: int) -> None:
                async with room:
                    await visit(house, "agent", moment, way, times, **known)

            async with trio.open_nursery() as nursery:
                for moment, way, times in list(product(MOMENTS, WAYS, (0, 1, 2))) * 30:
                    nursery.start_soon(one, moment, way, times)

        trio.run(visit_all)
        nobody_missed_them(house)


@pytest.mark.browser
def test_tabs_that_are_closed_are_no_warning_and_no_dead_letter(tmp_path: Path, chromium: Browser) -> None:
    with server(tmp_path) as house:
        house.ready()
        with chromium.new_context() as context:
            for system in ("console", "judge", "sidekick"):
                page = context.new_page()
                page.goto(house.url_of(system))
                page.locator("house-bar").get_by_text("live", exact=True).wait_for()
            for page in context.pages:
                page.close()
        nobody_missed_them(house)
