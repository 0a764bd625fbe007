"""Loopback is open to every account of the machine; the door is not."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
import trio
from hypothesis import example, given
from hypothesis import strategies as st

from tests.accounts import CAN_BE_OTHERS, NOBODY, STRANGERS_KERNEL, as_nobody
from tests.patience import PATIENCE
from tests.transports.house import House, frame, open_house, read_all
from transports.wire.account import Porter
from transports.wire.limits import DoorLimits
from transports.wire.refusal import Refusal
from transports.wire.sock_diag import CONNECTED, CannotSay, End, SockDiag, SocketEntry, answer, question

OWN = os.geteuid()
Form = tuple[int, str, int, str]
FORMS = [
    (socket.AF_INET, "127.0.0.1", socket.AF_INET, "127.0.0.1"),
    (socket.AF_INET6, "::1", socket.AF_INET6, "::1"),
    (socket.AF_INET, "127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1"),
]
"""The door's family and address; the client's family, and how it calls the door."""
form = pytest.mark.parametrize("form", FORMS, ids=["IPv4", "IPv6", "IPv4 from an IPv6 socket"])


class Pair:
    """Both ends of a loopback connection."""

    def __init__(self, stack: ExitStack, form: Form, client_is: Callable[[], Any]) -> None:
        family, address, client_family, called = form
        listener = stack.enter_context(socket.socket(family))
        listener.bind((address, 0))
        listener.listen()
        with client_is():
            self.client = stack.enter_context(socket.socket(client_family))
        self.client.connect((called, listener.getsockname()[1]))
        self.server = stack.enter_context(listener.accept()[0])
        self.near: End = self.server.getpeername()[:2]
        self.far: End = self.server.getsockname()[:2]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def kernel() -> Iterator[SockDiag]:
    with closing(SockDiag()) as kernel:
        yield kernel


@contextmanager
def as_ourselves() -> Iterator[None]:
    yield


# -- the real kernel


@form
def test_the_kernel_knows_our_own_connections(stack: ExitStack, kernel: SockDiag, form: Form) -> None:
    pair = Pair(stack, form, as_ourselves)
    assert kernel.owner(pair.near, pair.far) == OWN
    pair.client.send(b"GET /")
    pair.client.shutdown(socket.SHUT_WR)  # as `nc -N`: it has said all, and waits for the answer
    assert kernel.owner(pair.near, pair.far) == OWN


@form
def test_the_kernel_knows_whose_the_others_are(stack: ExitStack, form: Form) -> None:
    kernel = stack.enter_context(closing(STRANGERS_KERNEL()))
    pair = Pair(stack, form, as_nobody)
    assert kernel.owner(pair.near, pair.far) == NOBODY
    pair.client.shutdown(socket.SHUT_WR)
    assert kernel.owner(pair.near, pair.far) == NOBODY


@form
def test_what_has_no_owner_any_more_is_never_taken_for_roots(
    stack: ExitStack, kernel: SockDiag, form: Form
) -> None:
    """Most kernels say 0 of it, which is root's number."""
    pair = Pair(stack, form, as_nobody)
    pair.client.close()
    assert kernel.owner(pair.near, pair.far) in ({None, NOBODY} if CAN_BE_OTHERS else {None, OWN})
    pair.server.close()  # now the client's end is in TIME_WAIT
    assert kernel.owner(pair.near, pair.far) is None


@form
def test_who_listens_where_the_client_was_is_not_the_client(
    stack: ExitStack, kernel: SockDiag, form: Form
) -> None:
    while True:
        pair = Pair(stack, form, as_nobody)
        pair.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        pair.client.close()  # with a reset: nothing is left of it
        lure = stack.enter_context(socket.socket(form[0]))
        try:
            lure.bind(pair.near)
            break
        except OSError as error:  # on a busy machine somebody else may have been given the port since
            if error.errno != errno.EADDRINUSE:
                raise
    lure.listen()
    assert kernel.listener(pair.near) == OWN
    assert kernel.owner(pair.near, pair.far) is None


def test_a_client_that_is_bound_to_the_device_is_found(stack: ExitStack, kernel: SockDiag) -> None:
    listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    client = stack.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
    client.connect(listener.getsockname())
    assert kernel.owner(client.getsockname(), listener.getsockname()) == OWN


def test_an_answer_that_comes_late_is_not_taken_for_the_next(stack: ExitStack, kernel: SockDiag) -> None:
    ours, theirs = Pair(stack, FORMS[0], as_ourselves), Pair(stack, FORMS[1], as_ourselves)
    kernel._socket.sendto(question(77, theirs.near, theirs.far), (0, 0))
    assert kernel.owner(ours.near, ours.far) == OWN
    assert kernel.owner(theirs.near, theirs.far) == OWN


# -- what is made of its answers

NEAR, FAR = ("127.0.0.1", 40_000), ("127.0.0.1", 5160)
RIGHT = (b"\x7f\0\0\1", 40_000, b"\x7f\0\0\1", 5160)
a_pair = st.just(RIGHT) | st.tuples(
    st.sampled_from([b"\x7f\0\0\1", b"\x7f\0\0\2", bytes(15) + b"\1"]),
    st.sampled_from([40_000, 5160, 0]),
    st.sampled_from([b"\x7f\0\0\1", bytes(4)]),
    st.sampled_from([40_000, 5160, 0]),
)


@given(st.builds(SocketEntry, st.integers(0, 255), st.sampled_from([0, OWN, NOBODY]), st.sampled_from([0, 7]), a_pair))
@example(SocketEntry(state=1, uid=0, inode=0, pair=RIGHT))  # not accepted by anybody yet
@example(SocketEntry(state=4, uid=0, inode=0, pair=RIGHT))  # closed by its owner
@example(SocketEntry(state=6, uid=0, inode=0, pair=RIGHT))  # TIME_WAIT
@example(SocketEntry(state=10, uid=0, inode=7, pair=(b"\x7f\0\0\1", 40_000, bytes(4), 0)))  # root listens there
@example(SocketEntry(state=2, uid=OWN, inode=7, pair=RIGHT))  # SYN_SENT: ours, but the one after
def test_a_uid_is_believed_of_a_connected_end_of_the_very_pair_that_somebody_holds(found: SocketEntry) -> None:
    kernel = SockDiag()
    kernel._look = lambda near, far: found  # type: ignore[method-assign]
    held = found.pair == RIGHT and found.state in CONNECTED and (found.inode != 0 or found.uid != 0)
    assert kernel.owner(NEAR, FAR) == (found.uid if held else None)
    kernel.close()


def test_an_error_of_the_kernel_is_an_error_unless_there_is_no_such_socket() -> None:
    def error(number: int) -> bytes:
        return (36).to_bytes(4, "little") + b"\2\0\0\0" + bytes(8) + (-number).to_bytes(4, "little", signed=True)

    assert answer(error(2)) is None
    with pytest.raises(OSError, match="Operation not permitted"):
        answer(error(1))


class Fake:
    """A kernel with one answer, or one error, for everything."""

    def __init__(self, says: int | OSError | None, listens: int | OSError | None = OWN) -> None:
        self.says, self.listens = says, listens
        self.asked = 0
        self.closed = False

    def owner(self, near: End, far: End) -> int | None:
        self.asked += 1
        return _said(self.says)

    def listener(self, at: End) -> int | None:
        return _said(self.listens)

    def close(self) -> None:
        self.closed = True


def _said(answer: int | OSError | None) -> int | None:
    if isinstance(answer, OSError):
        raise answer
    return answer


@pytest.mark.parametrize(
    ("owner", "status"),
    [(OWN, None), (0, None), (OWN + 1, 403), (NOBODY - 1, 403), (None, 403), (OSError(105, "No buffer space"), 503)],
)
def test_ourselves_and_root_come_in_and_nobody_else(owner: int | OSError | None, status: int | None) -> None:
    porter = Porter(FAR, lambda: Fake(owner))
    refusal = porter.refusal(NEAR, FAR)
    assert (refusal.status if refusal else None) == status
    if isinstance(owner, int) and status:
        assert f"(uid {OWN})" in str(refusal)
        assert f"you are uid {owner}." in str(refusal)


def test_a_kernel_that_fails_once_is_asked_once_more_with_a_new_socket() -> None:
    kernels = [Fake(OSError(105, "No buffer space")), Fake(OWN)]
    made = iter(kernels)
    porter = Porter(FAR, lambda: next(made))
    assert porter.refusal(NEAR, FAR) is None
    assert [kernel.closed for kernel in kernels] == [True, False]
    assert [kernel.asked for kernel in kernels] == [1, 1]


# -- at a door


@contextmanager
def connected(house: House) -> Iterator[socket.socket]:
    """A client that is nobody's."""
    with as_nobody():
        client = socket.socket()
    with client:
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", house.port))
        yield client


def heard(client: socket.socket) -> bytes:
    data = b""
    try:
        while part := client.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data


WISHES: list[tuple[str, Callable[[House], bytes]]] = [
    ("a request", lambda house: house.request("GET / HTTP/1.1")),
    ("a post", lambda house: house.post("/whole", b"x" * 100_000)),
    ("an upgrade", lambda house: house.upgrade() + frame(1, b"hello")),
    ("nonsense", lambda house: b"\x16\x03\x01"),
    ("nothing", lambda house: b""),
]


@pytest.mark.parametrize("wish", [wish for _, wish in WISHES], ids=[name for name, _ in WISHES])
async def test_another_account_is_told_that_it_may_not_whatever_it_asks_and_nothing_is_done(
    wish: Callable[[House], bytes],
) -> None:
    async with open_house(kernel=STRANGERS_KERNEL) as house:

        def visit() -> bytes:
            with connected(house) as client:
                client.sendall(wish(house))
                return heard(client)

        said = await trio.to_thread.run_sync(visit)
        head, _, body = said.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert b"content-type: text/plain; charset=utf-8" in head
        assert f"you are uid {NOBODY}." in body.decode()
        statistics = house.door.statistics()
        assert (statistics.strangers, statistics.accepted, statistics.http, statistics.websockets) == (1, 0, 0, 0)
        assert house.events.received == []
        assert [fields["uid"] for event, fields in house.log.lines if "another account" in event] == [NOBODY]
        assert not house.log.contained()


async def test_strangers_take_no_place_of_those_who_may_come_in() -> None:
    answers: list[int | None] = [NOBODY] * 40

    class First(Fake):
        def owner(self, near: End, far: End) -> int | None:
            return answers.pop() if answers else OWN

    limits = DoorLimits(connections=1, strangers=4, linger_seconds=5)
    async with open_house(kernel=lambda: First(None), limits=limits) as house, trio.open_nursery() as nursery:
        streams = [await house.connect() for _ in range(40)]  # and none of them says a word, or leaves
        answer = await house.exchange(house.request("GET / HTTP/1.1", "Connection: close"))
        assert answer.startswith(b"HTTP/1.1 200 ")
        said: list[bytes] = []

        async def read(stream: trio.SocketStream) -> None:
            async with stream:
                await stream.send_eof()
                said.append(await read_all(stream))

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as reading:
                for stream in streams:
                    reading.start_soon(read, stream)
        assert sum(each.startswith(b"HTTP/1.1 403 ") for each in said) >= 4
        assert house.door.statistics().strangers == 40
        nursery.cancel_scope.cancel()


async def test_a_setting_lets_every_account_in() -> None:
    async with open_house(kernel=STRANGERS_KERNEL, accounts="any") as house:

        def visit() -> bytes:
            with connected(house) as client:
                client.sendall(house.request("GET / HTTP/1.1", "Connection: close"))
                return heard(client)

        assert (await trio.to_thread.run_sync(visit)).startswith(b"HTTP/1.1 200 ")


def _no_such_thing() -> SockDiag:
    raise CannotSay("only Linux tells whose a connection is")


def _forbidden() -> SockDiag:
    raise OSError(1, "Operation not permitted")


@pytest.mark.parametrize(
    ("kernel", "because"),
    [
        (_no_such_thing, "only Linux"),
        (_forbidden, "cannot be asked (Operation not permitted)"),
        (lambda: Fake(None, listens=None), "does not even know who listens here"),
        (lambda: Fake(None, listens=OWN + 1), "does not even know who listens here"),
        (lambda: Fake(None, listens=OSError(95, "Not supported")), "does not answer (Not supported)"),
    ],
)
async def test_where_the_kernel_cannot_say_everybody_comes_in_and_the_log_says_so(
    kernel: Callable[[], Any], because: str
) -> None:
    async with open_house(kernel=kernel) as house:
        assert await house.is_healthy()
        ((event, fields),) = house.log.lines
        assert event == "every account of this machine can come in"
        assert because in fields["because"]


async def test_a_kernel_that_stops_answering_lets_nobody_in_until_it_answers_again() -> None:
    kernel = Fake(OSError(105, "No buffer space available"))
    async with open_house(kernel=lambda: kernel) as house:
        said = await house.exchange(house.request("GET / HTTP/1.1"))
        assert said.startswith(b"HTTP/1.1 503 ")
        kernel.says = OWN
        assert await house.is_healthy()


async def test_a_door_that_has_closed_leaves_nothing_open() -> None:
    def sockets() -> set[str]:
        found = set()
        for number in os.listdir("/proc/self/fd"):
            try:
                found.add(os.readlink(f"/proc/self/fd/{number}"))
            except FileNotFoundError:
                continue  # that of the listing itself
        return {each for each in found if each.startswith("socket:")}

    before = sockets()
    async with open_house() as house:
        assert await house.is_healthy()
        await house.door.close()
    assert sockets() <= before


def test_a_refusal_is_one_sentence_for_people() -> None:
    refusal = Porter(FAR, lambda: Fake(NOBODY)).refusal(NEAR, FAR)
    assert isinstance(refusal, Refusal)
    assert 'accounts = "any"' in refusal.sentence
    assert "netlink" not in refusal.sentence
