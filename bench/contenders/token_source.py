"""A model's server that costs next to nothing: it speaks Ollama's protocol, and each token is the time at which it is
written.

What the user says is what it does, in the first line of the last message:

    flow COUNT RATE NUMBER    so many tokens, so many in a second; 0: as fast as they are taken
    mixed COUNT               so many pairs of a line of thought and a token, as fast as they are taken

Times are of `perf_counter_ns`, which is one clock for all processes of a machine. GET /gone gives the numbers
of the answers that were left before their end, each with its time, and forgets them.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import cast

MODEL = "stamps:latest"
SHOWN = {"model_info": {"general.architecture": "s", "s.context_length": 1 << 20}, "capabilities": ["completion"]}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
LINE = b'{"model":"stamps:latest","message":{"role":"assistant","content":"%d "},"done":false}\n'
THOUGHT = b'{"model":"stamps:latest","message":{"role":"assistant","content":"","thinking":"so\\n"},"done":false}\n'
LAST = (
    b'{"model":"stamps:latest","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",'
    b'"prompt_eval_count":1,"eval_count":1}\n'
)
AT_ONCE = 50
"""Of a flood, lines between two looks at the socket's buffer."""


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class TokenSource(asyncio.Protocol):
    def __init__(self, gone: list[tuple[int, int]]) -> None:
        self._gone = gone
        self._buffer = bytearray()
        self._left = 0
        self._number = 0
        self._every = 0.0
        self._due = 0.0
        self._thinks = False
        self._handle: asyncio.Handle | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        if self._left:
            self._gone.append((self._number, perf_counter_ns()))

    def pause_writing(self) -> None:
        self._stop()

    def resume_writing(self) -> None:
        if self._left and not self._every:
            self._flood()

    def _stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        first, *fields = head.decode("latin-1").split("\r\n")
        sizes = [field.partition(":")[2] for field in fields if field.lower().startswith("content-length:")]
        size = int(sizes[0]) if sizes else 0
        if len(body) >= size:
            self._buffer = body[size:]
            self._answer(first.split(" ")[1], bytes(body[:size]))

    def _answer(self, path: str, body: bytes) -> None:
        match path:
            case "/api/chat":
                self._chat(str(json.loads(body)["messages"][-1]["content"]))
            case "/api/tags":
                self._whole({"models": [{"name": MODEL, "model": MODEL}]})
            case "/api/show":
                self._whole(SHOWN)
            case "/gone":
                self._whole(self._gone)
                self._gone.clear()
            case _:
                self._whole({"version": "0.12.0"})

    def _whole(self, answer: object) -> None:
        data = json.dumps(answer).encode()
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data)
        )

    def _chat(self, said: str) -> None:
        self._transport.write(HEAD)
        order, *numbers = said.partition("\n")[0].split()
        count, rate, self._number = (*map(int, numbers), 0, 0)[:3]
        self._left, self._thinks = count, order == "mixed"
        self._every = 1 / rate if rate else 0.0
        self._due = self._loop.time()
        self._call(self._tick if rate else self._flood)

    def _call(self, step: Callable[[], None]) -> None:
        self._handle = self._loop.call_at(self._due, step) if self._every else self._loop.call_soon(step)

    def _tick(self) -> None:
        self._token()
        if self._left:
            self._due += self._every
            self._call(self._tick)

    def _flood(self) -> None:
        self._handle = None
        for _ in range(min(AT_ONCE, self._left)):
            if self._thinks:
                self._transport.write(chunk(THOUGHT))
            self._token()
        if self._left and not self._transport.get_write_buffer_size():
            self._call(self._flood)
        elif self._left:
            self._transport.set_write_buffer_limits(high=1)  # so it tells when all is written

    def _token(self) -> None:
        self._left -= 1
        self._transport.write(chunk(LINE % perf_counter_ns()))
        if not self._left:
            self._transport.write(chunk(LAST) + b"0\r\n\r\n")


async def main(port: int) -> None:
    gone: list[tuple[int, int]] = []
    server = await asyncio.get_running_loop().create_server(lambda: TokenSource(gone), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
