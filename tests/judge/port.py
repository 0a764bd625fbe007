"""A real server with a judge, and pages that come to it by its port."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import trio
from trio_websocket import WebSocketConnection, wrap_client_stream

from tests.house.running import Server
from tests.judge.kit import Json, post
from tests.patience import PATIENCE
from tests.transports.process.house import marked

"""Real seconds after which a test has failed."""
SUMS = "a, b = map(int, input().split())\nprint(a + b)\n"
EXAMPLES = (("1 2\n", "3\n"), ("2 2\n", "4\n"), ("40 2\n", "42\n"))
GONE_WITHIN = 0.2
ATTEMPTS = 3


class Port:
    """The server, and what is on its disk."""

    def __init__(self, house: Server, workspace: Path) -> None:
        self.house = house
        self.workspace = workspace
        self.url = house.url_of("judge")

    def folder(self, task: str) -> Path:
        return self.workspace / task

    def post(self, body: bytes, url: str | None = None, **headers: str) -> httpx.Response:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(url or self.url, content=body, headers=given, timeout=PATIENCE)

    @asynccontextmanager
    async def panel(self, host: str | None = None) -> AsyncIterator["Panel"]:
        address = urlsplit(self.url)
        stream = await trio.open_tcp_stream(host or str(address.hostname), address.port or 0)
        async with trio.open_nursery() as nursery:
            try:
                with trio.fail_after(PATIENCE):
                    socket = await wrap_client_stream(nursery, stream, address.netloc, "/panel")
                panel = Panel(socket, stream)
                await panel.say("ui/requestInit")
                await panel.heard("state/init")
                yield panel
            finally:
                await trio.aclose_forcefully(stream)
                nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def solving(self, task: str, source: str, *samples: tuple[str, str], **fields: Any) -> AsyncIterator["Panel"]:
        """A panel that shows this problem, whose solution is this."""
        async with self.panel() as panel:
            assert self.post(post(task, *(samples or EXAMPLES), **fields)).status_code == 200
            await panel.shows(task)
            (self.folder(task) / "main.py").write_text(source)
            yield panel

    async def is_healthy(self, task: str) -> None:
        """Nothing is left of the solution, soon; and the next run is right."""
        await self.nothing_is_left(task)
        (self.folder(task) / "main.py").write_text(SUMS)
        for number, (given, wanted) in enumerate(EXAMPLES, 1):
            (self.folder(task) / "tests" / f"{number}.in").write_text(given)
            (self.folder(task) / "tests" / f"{number}.out").write_text(wanted)
        async with self.panel() as panel:
            await panel.say("ui/openProblem", id=task)
            await panel.shows(task)
            await panel.say("ui/updateSettings", settings={"timeoutMs": 10_000})
            await panel.say("ui/runAll", problemId=task, indices=[*range(1, len(EXAMPLES) + 1)])
            results, _ = await panel.ended()
            assert [each["status"] for each in results] == ["pass"] * len(EXAMPLES), results
            await panel.say("ui/updateSettings", settings={"timeoutMs": None})
            await panel.heard("state/init", lambda said: said["settings"]["timeoutMs"] is None)
        await self.nothing_is_left(task)

    def alive(self, task: str) -> list[int]:
        return marked(f"{self.folder(task)}/main.py")

    async def running(self, task: str, count: int = 1) -> list[int]:
        """Wait until so many processes of the solution run."""
        with trio.fail_after(PATIENCE):
            while len(found := self.alive(task)) < count:  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.005)
        return found

    async def gone(self, task: str) -> float:
        """Wait until nothing is left of the solution; how long something was. To look takes time, too: what counts is
        when the last look began that still found something."""
        began, late = time.monotonic(), 0.0
        with trio.fail_after(PATIENCE):
            while True:
                looked = time.monotonic()
                if not self.alive(task):
                    return late
                late = looked - began
                await trio.sleep(0.005)

    async def nothing_is_left(self, task: str) -> None:
        late = await self.gone(task)
        assert late < GONE_WITHIN, f"something was left for {late:.2f} s"


async def leaves_nothing(attempt: Callable[[], Awaitable[float]]) -> None:
    """In time. A busy machine may be late once or twice; who waits for something else than a processor is so always."""
    lates = [await attempt()]
    while min(lates) >= GONE_WITHIN and len(lates) < ATTEMPTS:
        lates.append(await attempt())
    assert min(lates) < GONE_WITHIN, f"something was left for {lates} s"


class Panel:
    """A page's end of a real WebSocket."""

    def __init__(self, socket: WebSocketConnection, stream: trio.SocketStream) -> None:
        self.socket = socket
        self.stream = stream
        self.told: list[Json] = []

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send_message(json.dumps({"type": kind, **fields}))

    async def heard(self, kind: str, wanted: Callable[[Json], bool] = lambda message: True) -> Json:
        """The next such message."""
        with trio.fail_after(PATIENCE):
            while True:
                message: Json = json.loads(await self.socket.get_message())
                self.told.append(message)
                if message["type"] == kind and wanted(message):
                    return message

    async def shows(self, task: str) -> Json:
        with trio.fail_after(PATIENCE):
            while True:
                message: Json = json.loads(await self.socket.get_message())
                self.told.append(message)
                if message["type"] in ("state/init", "state/update") and message.get("problem", {}).get("id") == task:
                    problem: Json = message["problem"]
                    return problem

    async def notice(self) -> str:
        """The next that is not about rubbish: all pages are told of that a while after it was posted, so also of what
        an earlier test has posted to this server."""
        told = await self.heard("notice", lambda said: not said["message"].startswith("What was posted is no problem"))
        return str(told["message"])

    async def ended(self) -> tuple[list[Json], Json]:
        """The results up to the end of the run, and that end."""
        before = len(self.told)
        complete = await self.heard("run/complete")
        return [said["result"] for said in self.told[before:] if said["type"] == "run/result"], complete

    async def run(self) -> list[Json]:
        await self.say("ui/runAll")
        return (await self.ended())[0]
