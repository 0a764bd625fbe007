"""A server that is made to be killed: it appends as fast as it can and prints what was acknowledged.

The parent process imports once and forks a child for each line on its input; the child runs a store and prints its
process number, then a line for each acknowledgement. Every second event of a writer is one change with its state (space
"together"). When the child is dead, the parent prints "dead".
"""

import os
import sys
from pathlib import Path

import trio

from actors.kernel import run
from actors.store import Append, Put, StateDirectory, StoreClient, store_spec

WRITERS = 6
STREAMS = 3


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def write(client: StoreClient, name: str, stream: str) -> None:
    number = 0
    while True:
        number += 1
        payload = f"{name}-{number}"
        data = payload.encode()
        seq = await client.append(stream, [data])
        await client.put("last", name, data)
        await client.put("soft", name, data, soft=True)
        say(f"{stream} {seq} {payload}")
        number += 1
        payload = f"{name}-{number}"
        data = payload.encode()
        both = await client.together(Put("together", name, data), Append(stream, [data]), Put("last", name, data))
        await client.put("soft", name, data, soft=True)
        say(f"{stream} {both} {payload}")


async def serve(path: Path, life: str) -> None:
    with StateDirectory.claim(path) as directory:
        async with trio.open_nursery() as nursery:
            client = StoreClient(await nursery.start(run, store_spec(directory)))
            for writer in range(WRITERS):
                nursery.start_soon(write, client, f"{life}-{writer}", f"s{writer % STREAMS}")


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            say(f"pid {os.getpid()}")
            trio.run(serve, Path(sys.argv[1]), line.strip())
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main()
