"""Of peers that have left a running server, nothing is left for the garbage collector. It would find their remains only
after very many new objects, all at one time, and everybody would wait for it: half a second for two thousand peers.

Reference counting frees an object as soon as nothing refers to it, unless it is part of a circle. So the law is that no
peer leaves a circle behind, in whatever way it leaves.
"""

import gc
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.kernel import AnyRef, Stage, run
from actors.store import StateDirectory
from codec.settings import parse
from program.serving import Listeners
from supervisor import troupe
from tests.house.running import DEADLINE, LISTENING
from tests.sidekick.kit import Json, announce, spawn
from tests.transports.house import CLOSE, TEXT, frame, read_all, read_until

PEERS = 8
OURS = ("actors.", "codec.", "transports.")


@dataclass(frozen=True)
class Visit:
    system: str
    path: str
    says: tuple[Json, ...]
    crowds: tuple[str, ...]
    """Where it has children while it is there, each in a place of its own."""


PEER = ("troupe/sidekick/rooms", "troupe/sidekick/peers")
VISITS = {
    "a script": Visit("sidekick", "/?session=room-{}", (announce("hero", "h"), spawn("label", "l", text="")), PEER),
    "a board's page": Visit("sidekick", "/?session=room-{}", (announce("sidekick", "s"),), PEER),
    "a silent peer": Visit("sidekick", "/?session=room-{}", (), PEER),
    "a panel": Visit("judge", "/panel", ({"type": "ui/requestInit"},), ("troupe/judge/panels",)),
    "a console's page": Visit("console", "/live", (), ("troupe/console/viewers",)),
    "a desk's page": Visit("ipc", "/live", (), ("troupe/ipc/viewers",)),
}


class Place:
    def __init__(self, stage: Stage, listeners: Listeners) -> None:
        self._stage = stage
        self._listeners = listeners
        self._tasks = trio.lowlevel.current_statistics().tasks_living

    async def visited(self, visit: Visit, goodbye: bool) -> None:
        """Some come at the same time, and all of them leave."""
        here, leave = [trio.Event() for _ in range(PEERS)], trio.Event()
        async with trio.open_nursery() as nursery:
            for number in range(PEERS):
                nursery.start_soon(self._visit, visit, number, goodbye, here[number], leave)
            for each in here:
                await each.wait()
            for crowd in visit.crowds:
                while len(self._children(crowd)) < PEERS:
                    await wait_all_tasks_blocked(0.01)
            leave.set()
        for room in self._children("troupe/sidekick/rooms"):  # it would wait ten minutes for somebody to come back
            await room.stop()
        while trio.lowlevel.current_statistics().tasks_living > self._tasks:
            await wait_all_tasks_blocked(0.01)

    async def _visit(self, visit: Visit, number: int, goodbye: bool, here: trio.Event, leave: trio.Event) -> None:
        address = urlsplit(self._listeners.urls()[visit.system] or "")
        async with await trio.open_tcp_stream(address.hostname or "", address.port or 0) as stream:
            lines = (
                f"GET {visit.path.format(number)} HTTP/1.1",
                f"Host: {address.netloc}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            )
            await stream.send_all("\r\n".join([*lines, "", ""]).encode())
            assert b" 101 " in await read_until(stream, b"\r\n\r\n")
            await stream.send_all(b"".join(frame(TEXT, json.dumps(each).encode()) for each in visit.says))
            here.set()
            await leave.wait()
            if goodbye:
                await stream.send_all(frame(CLOSE, (1000).to_bytes(2, "big")))
                await read_all(stream)

    def _children(self, crowd: str) -> list[AnyRef]:
        return [child.ref for slot in self._stage.slots() if slot.path == crowd for child in slot.children()]


@contextmanager
def collected(found: Counter[str]) -> Iterator[None]:
    """What the collector would find of our kinds, of all that was made in this block. What is older stays out of its
    sight afterwards too, as in `tests/warming.py`: to look through all of it takes a second each time."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = (f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.garbage)
        found.update(kind for kind in kinds if kind.startswith(OURS))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:gc")
async def test_peers_that_have_left_leave_nothing_to_the_collector(tmp_path: Path) -> None:
    ports = [f"{system}.port=0" for system in (*LISTENING, "ipc")]
    settings = parse("", source="", overrides=[*ports, f'judge.workspace="{tmp_path}"', f'ipc.base="{tmp_path}/desk"'])
    listeners, stages = Listeners(list(settings.enabled())), list[Stage]()
    left: dict[str, Counter[str]] = {}
    with StateDirectory.claim(tmp_path / "state") as directory, trio.fail_after(DEADLINE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(run, troupe(settings, directory, listeners), on_stage=stages.append))
            while not listeners.settled:
                await listeners.changed()
            await wait_all_tasks_blocked(0.1)
            place = Place(stages[0], listeners)
            for name, visit in VISITS.items():
                for goodbye in (True, False):
                    await place.visited(visit, goodbye)  # what is made once for all is there now
                    found = left[f"{name} that {'says goodbye' if goodbye else 'is cut off'}"] = Counter()
                    with collected(found):
                        await place.visited(visit, goodbye)
            nursery.cancel_scope.cancel()
    assert {name: found for name, found in left.items() if found} == {}
