import errno
import socket
from typing import Any

import pytest
import trio

from transports.wire.binding import Address, CannotListen, PortInUse, bind


async def test_both_loopback_hosts_get_the_same_free_port() -> None:
    bound = await bind(["127.0.0.1", "::1"], 0)
    try:
        assert {listener.socket.getsockname()[1] for listener in bound.listeners} == {bound.port}
        assert len(bound.listeners) + len(bound.unavailable) == 2
    finally:
        bound.close()


async def test_a_port_in_use_is_said_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as refused:
            await bind(["127.0.0.1"], port)
    assert str(refused.value) == (
        f"port {port} on 127.0.0.1 is in use by another program; stop it or choose another port"
    )


async def test_a_port_in_use_on_the_second_host_leaves_the_first_free() -> None:
    with socket.create_server(("127.0.0.2", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse, match=r"on 127\.0\.0\.2"):
            await bind(["127.0.0.1", "127.0.0.2"], port)
        (await bind(["127.0.0.1"], port)).close()


async def test_port_0_is_drawn_again_when_it_is_taken_on_the_second_host(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = 3
    genuine = trio.socket.socket

    class Unlucky:
        """A socket that finds its port taken, the first times on the second host."""

        def __init__(self, *args: Any) -> None:
            self._socket = genuine(*args)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._socket, name)

        async def bind(self, address: tuple[str, int]) -> None:
            nonlocal refusals
            if address[0] == "127.0.0.2" and refusals:
                refusals -= 1
                raise OSError(errno.EADDRINUSE, "in use")
            await self._socket.bind(address)

    # SocketListener wants the genuine thing
    monkeypatch.setattr(
        "transports.wire.binding.trio.SocketListener", lambda sock: trio._highlevel_socket.SocketListener(sock._socket)
    )
    monkeypatch.setattr("transports.wire.binding.trio.socket.socket", Unlucky)
    bound = await bind(["127.0.0.1", "127.0.0.2"], 0)
    bound.close()
    assert refusals == 0
    assert len(bound.listeners) == 2


async def test_a_host_this_machine_does_not_have_is_left_out_and_named() -> None:
    bound = await bind(["127.0.0.1", "2001:db8::1"], 0)
    bound.close()
    assert bound.unavailable == ("2001:db8::1",)
    assert len(bound.listeners) == 1


async def test_no_host_at_all_is_an_error() -> None:
    with pytest.raises(CannotListen, match="no address 2001:db8::1"):
        await bind(["2001:db8::1"], 0)


async def test_a_name_nobody_knows_is_an_error() -> None:
    with pytest.raises(CannotListen, match=r"'no such host' is not known"):
        await bind(["no such host"], 0)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (Address("127.0.0.1", 5160), "http://127.0.0.1:5160"),
        (Address("::1", 5160, secure=True), "https://[::1]:5160"),
    ],
)
def test_an_address_has_a_url(address: Address, url: str) -> None:
    assert address.url == url
