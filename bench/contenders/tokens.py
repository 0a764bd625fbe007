"""A model's server that sends tokens at a given pace, and three ways to read it; each is a process of its own.

    python -m bench.contenders.tokens source                        says its port, and serves until its input ends
    python -m bench.contenders.tokens READER PORT STREAMS SECONDS    says its figures as JSON

Every token holds the time at which it was given to the socket, by the clock that all processes share. READER is `ours`
(the families of models, over httpx and trio, as a turn uses them), `httpx` (the loop that one would write on asyncio),
or `sockets` (trio, without a library for HTTP: the limit that sockets and a parser of JSON set).
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterable
from statistics import quantiles

import httpx
import msgspec
import trio

from codec.agent.models import Delta, ModelConfig, ModelMessage, ModelRequest, SaidText
from transports.agent.providers import Families

RATE = 100
"""Tokens a second, of each stream."""
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"
LINE = '{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant","content":"%d "},"done":false}\n'
WARM_UP = 0.5
"""Seconds, which do not count."""
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Figures:
    """Of the tokens that come when every stream has begun, and a warm-up is over."""

    def __init__(self, streams: int, seconds: float) -> None:
        self._silent = streams
        self._seconds = seconds
        self._from = self._until = float("inf")
        self.delays: list[int] = []
        self.cpu = 0.0
        """When the first of them came."""

    @property
    def complete(self) -> bool:
        return time.monotonic() > self._until

    def begin(self) -> None:
        """One more stream has begun."""
        self._silent -= 1
        if not self._silent:
            self._from = time.monotonic() + WARM_UP
            self._until = self._from + self._seconds

    def take(self, text: str) -> None:
        came = now()
        if self._from <= time.monotonic() <= self._until:
            self.cpu = self.cpu or time.process_time()
            self.delays.append(came - int(text))

    def tell(self) -> None:
        cpu = time.process_time() - self.cpu
        places = quantiles(self.delays, n=100, method="inclusive")
        figures = {"p50": places[49], "p99": places[98], "most": max(self.delays), "tokens": len(self.delays)}
        print(json.dumps(figures | {"cpu": cpu * 1e9 / len(self.delays)}))


# -- the source


async def source() -> None:
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        print(listener.socket.getsockname()[1], flush=True)
        nursery.start_soon(trio.serve_listeners, _serve, [listener])
        await trio.to_thread.run_sync(sys.stdin.buffer.read, abandon_on_cancel=True)
        nursery.cancel_scope.cancel()


async def _serve(stream: trio.SocketStream) -> None:
    try:
        async with stream:
            await stream.receive_some(65536)
            await stream.send_all(HEAD)
            due = trio.current_time()
            while True:
                due += 1 / RATE
                await trio.sleep_until(due)
                line = (LINE % now()).encode()
                await stream.send_all(b"%x\r\n%s\r\n" % (len(line), line))
    except trio.BrokenResourceError:
        return


# -- the readers


async def ours(port: int, streams: int, seconds: float) -> None:
    def none(_: ModelRequest) -> Iterable[Delta]:
        return ()

    families = Families([], none)
    model = ModelConfig(provider="ollama", model_name="m", url=f"http://127.0.0.1:{port}")
    request = ModelRequest(model=model, messages=(ModelMessage(role="user", content="Hi"),))
    figures = Figures(streams, seconds)

    async def read() -> None:
        async with families.stream(request) as deltas:
            figures.begin()
            async for delta in deltas:
                if isinstance(delta, SaidText):
                    figures.take(delta.text)

    async with trio.open_nursery() as nursery:
        for _ in range(streams):
            nursery.start_soon(read)
            await trio.sleep(1 / RATE / streams)
        while not figures.complete:  # noqa: ASYNC110 - to be asked for costs less than to tell
            await trio.sleep(0.05)
        nursery.cancel_scope.cancel()
    figures.tell()


async def over_httpx(port: int, streams: int, seconds: float) -> None:
    figures = Figures(streams, seconds)

    async def read() -> None:
        async with (
            httpx.AsyncClient(trust_env=False, timeout=None) as client,
            client.stream("POST", f"http://127.0.0.1:{port}/api/chat", json=BODY) as response,
        ):
            figures.begin()
            async for line in response.aiter_lines():
                figures.take(json.loads(line)["message"]["content"])

    tasks = []
    for _ in range(streams):
        tasks.append(asyncio.create_task(read()))
        await asyncio.sleep(1 / RATE / streams)
    while not figures.complete:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    figures.tell()


async def over_sockets(port: int, streams: int, seconds: float) -> None:
    figures = Figures(streams, seconds)
    body = json.dumps(BODY).encode()

    async def read() -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        async with stream:
            await stream.send_all(b"POST /api/chat HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            figures.begin()
            async for data in stream:
                for line in data.split(b"\r\n"):
                    if line.startswith(b"{"):
                        figures.take(msgspec.json.decode(line)["message"]["content"])

    async with trio.open_nursery() as nursery:
        for _ in range(streams):
            nursery.start_soon(read)
            await trio.sleep(1 / RATE / streams)
        while not figures.complete:  # noqa: ASYNC110 - to be asked for costs less than to tell
            await trio.sleep(0.05)
        nursery.cancel_scope.cancel()
    figures.tell()


def main(what: str, *numbers: str) -> None:
    if what == "source":
        trio.run(source)
        return
    port, streams, seconds = int(numbers[0]), int(numbers[1]), float(numbers[2])
    if what == "httpx":
        asyncio.run(over_httpx(port, streams, seconds))
    else:
        trio.run({"ours": ours, "sockets": over_sockets}[what], port, streams, seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
