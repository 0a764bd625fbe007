import socket

import httpx
import pytest
import trio
from trio_websocket import ConnectionClosed

from actors.kernel import ActorRef, ChildSpec, Stage, Why, run
from codec.console import Listening
from tests.patience import PATIENCE
from tests.transports.house import Events, House, Log, application, read_all, reason_of, websockets
from transports.door.door import Door
from transports.door.listener import MOVES, DoorEvent, DoorState, Listener


class Watch:
    """Keeps what a listener reports, and lets a test wait for it."""

    def __init__(self) -> None:
        self.states: list[Listening] = []
        self.changed = trio.Event()

    def __call__(self, name: str, state: Listening) -> None:
        assert name == "console"
        self.states.append(state)
        self.changed.set()
        self.changed = trio.Event()


async def start(
    nursery: trio.Nursery, watch: Watch, port: int = 0, retry: float = 0.05
) -> tuple[ActorRef[object], list[Door]]:
    doors: list[Door] = []
    events = Events()

    def make_door(stage: Stage) -> Door:
        doors.append(
            Door(app=application(events), on_websocket=websockets(events), hosts=["127.0.0.1"], port=port, log=Log())
        )
        return doors[-1]

    spec = ChildSpec(
        "console",
        lambda: Listener("console", make_door, watch, retry_seconds=retry),
    )
    return await nursery.start(run, spec), doors


async def test_a_listener_is_up_when_it_has_started() -> None:
    watch = Watch()
    async with trio.open_nursery() as nursery:
        ref, _ = await start(nursery, watch)
        (state,) = watch.states
        assert state.up
        assert state.url is not None
        assert state.sentence == f"listening on {state.url}"
        async with httpx.AsyncClient() as client:
            assert (await client.get(state.url)).text == "hello"
        assert (await ref.stop()).why is Why.SHUTDOWN


async def test_a_listener_that_is_stopped_closes_its_door_in_order() -> None:
    watch = Watch()
    async with trio.open_nursery() as nursery:
        ref, (door,) = await start(nursery, watch)
        house = House(door, Log(), Events(), nursery)
        async with house.websocket() as client:
            await client.send_message("hi")
            assert await client.get_message() == "hi"
            nursery.start_soon(ref.stop)
            with pytest.raises(ConnectionClosed) as closed, trio.fail_after(PATIENCE):
                await client.get_message()
            assert reason_of(closed).code == 1001
    assert [state.up for state in watch.states] == [True]


@pytest.mark.slow
async def test_a_port_in_use_is_said_once_and_tried_again_until_it_is_free() -> None:
    watch = Watch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with trio.open_nursery() as nursery:
            ref, doors = await start(nursery, watch, port)
            while len(doors) < 3:  # noqa: ASYNC110  the third try is what is waited for
                await trio.sleep(0.01)
            assert watch.states == [
                Listening(
                    up=False,
                    url=None,
                    sentence=f"console: port {port} on 127.0.0.1 is in use by another program; "
                    "stop it or choose another port ([console] in the settings)",
                )
            ]
            taken.close()
            with trio.fail_after(PATIENCE):
                await watch.changed.wait()
            assert (watch.states[-1].up, watch.states[-1].url) == (True, f"http://127.0.0.1:{port}")
            assert (await ref.stop()).why is Why.SHUTDOWN


async def test_a_listener_that_is_down_can_be_stopped() -> None:
    watch = Watch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        async with trio.open_nursery() as nursery:
            ref, _ = await start(nursery, watch, taken.getsockname()[1], retry=3600)
            with trio.fail_after(PATIENCE):
                assert (await ref.stop()).why is Why.SHUTDOWN


async def test_a_cancelled_tree_closes_its_door_in_order() -> None:
    watch = Watch()
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            _, (door,) = await start(nursery, watch)
            stream = await trio.open_tcp_stream("127.0.0.1", door.statistics().addresses[0].port)
            nursery.cancel_scope.cancel()
        async with stream:
            assert await read_all(stream) == b""


def test_a_listener_that_is_up_never_goes_down_by_itself() -> None:
    assert MOVES.becomes(DoorState.LISTENING) == {DoorEvent.STOPPED: DoorState.CLOSED}
    assert MOVES.states == list(DoorState)
