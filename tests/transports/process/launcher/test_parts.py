"""The parts that need no process: what is said, who is below whom."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transports.process.launcher import census
from transports.process.launcher.account import excess_of
from transports.process.launcher.orders import Order, RunEnded, framed, read_ended, read_order, take_frame

texts = st.binary(min_size=1, max_size=20).map(lambda text: text.replace(b"\0", b"x"))


@pytest.mark.slow
@given(
    st.builds(
        Order,
        argv=st.lists(texts, min_size=1),
        env=st.lists(texts),
        cwd=texts,
        stdin=texts,
        cpu_seconds=st.none() | st.floats(0, 1e6),
        memory_bytes=st.none() | st.integers(0, 1 << 50),
        processes=st.none() | st.integers(0, 1000),
        file_bytes=st.none() | st.integers(0, 1 << 50),
        wall_seconds=st.none() | st.floats(0, 1e6),
    )
)
def test_an_order_is_read_as_it_was_written(order: Order) -> None:
    held = bytearray(order.frame())
    fields = take_frame(held)
    assert fields is not None
    assert as_values(read_order(fields)) == as_values(order)
    assert not held


@given(
    st.builds(
        RunEnded,
        status=st.integers(-64, 255),
        excess=st.sampled_from(["", "cpu", "memory"]),
        cpu_seconds=st.floats(0, 1e6),
        wall_seconds=st.floats(0, 1e6),
        delay_seconds=st.floats(0, 1e6),
        peak_bytes=st.integers(0, 1 << 50),
        left=st.booleans(),
    )
)
def test_an_end_is_read_as_it_was_written(ended: RunEnded) -> None:
    fields = take_frame(bytearray(ended.frame()))
    assert fields is not None
    assert as_values(read_ended(fields)) == as_values(ended)


def test_frames_are_found_however_they_were_cut() -> None:
    whole = framed(b"one", b"") + framed(b"two")
    for cut in range(len(whole)):
        held, found = bytearray(whole[:cut]), []
        while (fields := take_frame(held)) is not None:
            found.append(fields)
        held += whole[cut:]
        while (fields := take_frame(held)) is not None:
            found.append(fields)
        assert found == [[b"one", b""], [b"two"]]


@pytest.mark.parametrize(
    ("status", "seconds", "limit", "excess"),
    [
        (-signal.SIGKILL, 3.0, 2.0, "cpu"),
        (-signal.SIGXCPU, 3.0, 2.0, "cpu"),
        (-signal.SIGKILL, 1.0, 2.0, ""),
        (-signal.SIGKILL, 3.0, None, ""),
        (-signal.SIGSEGV, 3.0, 2.0, ""),
        (0, 3.0, 2.0, ""),
    ],
)
def test_a_kill_beyond_the_cpu_limit_was_the_kernels(
    status: int, seconds: float, limit: float | None, excess: str
) -> None:
    assert excess_of(status, seconds, limit) == excess


@pytest.fixture(params=["the kernel lists children", "it does not"])
def family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[census.ProcessSeen]]:
    listed = request.param == "the kernel lists children"
    if listed and not census.LISTS_CHILDREN:
        pytest.fail("this kernel does not list children; nothing else here can be trusted to have been tried")
    monkeypatch.setattr(census, "LISTS_CHILDREN", listed)
    return census.family


def test_whoever_is_below_is_found(family: Callable[..., list[census.ProcessSeen]]) -> None:
    source = "import os, sys\nfor _ in range(2): os.fork()\nprint(flush=True)\nsys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.read(4) == b"\n" * 4
        members = family([process.pid])
        assert len(members) == 4
        assert len(family([process.pid], most=3)) == 3
        assert process.pid in census.children(os.getpid())
        assert {member.group for member in members} == {os.getpgrp()}
        assert all(member.resident_bytes > 1_000_000 and not member.zombie for member in members)
        assert all(0 < census.shared_out_bytes(member.pid) <= census.peak_bytes(member.pid) for member in members)
        process.stdin.close()
        process.wait()
    assert family([process.pid]) == []


def test_a_name_with_spaces_and_parentheses_is_no_trouble() -> None:
    stat = b"7 (a) b (c) S 1 2 3 0 -1 0 0 0 0 0 10 20 30 40 20 0 1 0 99 1000 5 0 0"
    member = census.ProcessSeen(7, stat)
    assert (member.parent, member.group, member.zombie) == (1, 2, False)
    assert (member.own_ticks, member.children_ticks, member.threads, member.began) == (30, 70, 1, 99)
    assert member.resident_bytes == 5 * census.PAGE_BYTES


def as_values(thing: Order | RunEnded) -> dict[str, object]:
    return {name: getattr(thing, name) for name in thing.__slots__}
