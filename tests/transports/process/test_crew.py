"""A crew does orders; whatever its members do, and whoever is killed, nothing is left behind, and the next order is
done."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
import trio

from actors.kernel import Mailbox
from tests.transports.process.crewed import PATIENCE, ROOT, open_crew
from tests.transports.process.house import gone, marked
from transports.process.crew import MemberLost, NeverReady, OrderFailed, OrderOverdue

pytestmark = pytest.mark.slow


@pytest.fixture
def mark() -> str:
    return f"mark-{os.getpid()}-{time.monotonic_ns()}"


async def test_members_do_one_order_after_another_and_are_started_when_they_are_needed(mark: str) -> None:
    async with open_crew(mark, most=2) as crewed:
        assert crewed.statistics().started == 0
        pids = {await crewed.ask("pid") for _ in range(5)}
        assert len(pids) == 1
        told: list[str] = []
        async with trio.open_nursery() as nursery:
            for number in range(20):

                async def ask(number: int = number) -> None:
                    told.append(await crewed.ask(f"echo {number}"))

                nursery.start_soon(ask)
        assert sorted(map(int, told)) == list(range(20))
        assert crewed.statistics().started == 2
    await gone(mark)


async def test_parts_come_in_order_and_before_the_answer_and_a_long_answer_comes_whole(mark: str) -> None:
    async with open_crew(mark) as crewed:
        heard: list[bytes] = []
        await crewed.crew.do(b"parts 3000", heard.append)
        assert heard == [str(number).encode() for number in range(3000)]
        assert await crewed.ask("long 3000000") == "x" * 3_000_000
        assert await crewed.ask("echo " + "y" * 3_000_000) == "y" * 3_000_000


async def test_a_member_has_a_session_of_its_own_and_an_empty_environment(mark: str) -> None:
    async with open_crew(mark) as crewed:
        environment, folder, is_leader = eval(await crewed.ask("environment"))
        assert set(environment) <= {"LC_CTYPE"}
        assert (folder, is_leader) == ("/", True)


async def test_an_exception_is_the_answer_and_the_member_goes_on(mark: str) -> None:
    async with open_crew(mark) as crewed:
        before = await crewed.ask("pid")
        with pytest.raises(OrderFailed, match="ValueError: no such thing"):
            await crewed.ask("fail no such thing")
        assert await crewed.ask("pid") == before


@pytest.mark.parametrize("order", ["die", "rubbish", "grow 3000000000000"])
async def test_a_member_that_ends_or_wants_too_much_fails_its_order_only(mark: str, order: str) -> None:
    async with open_crew(mark) as crewed:
        with pytest.raises((MemberLost, OrderFailed)):
            await crewed.ask(order)
        assert await crewed.ask("echo well") == "well"


async def test_how_a_member_has_ended_at_its_work_is_told_in_the_log(
    mark: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_crew(mark) as crewed:
        with pytest.raises(MemberLost):
            await crewed.ask("die")

        def slain(part: bytes) -> None:
            os.kill(crewed.statistics().pids[0], signal.SIGKILL)

        with pytest.raises(MemberLost):
            await crewed.crew.do(b"wait", slain)
        with pytest.raises(OrderOverdue):  # we have ended it, and say so elsewhere
            await crewed.crew.do(b"sleep 100", seconds=0.05)
        assert await crewed.ask("echo well") == "well"
        with trio.fail_after(PATIENCE):
            while True:
                if len(caplog.messages) == 2:
                    break
                await trio.sleep(0.001)
    await gone(mark)
    assert caplog.messages == [
        "a worker process has ended at its work: exit code 3",
        "a worker process has ended at its work: signal 9 (Killed)",
    ]


async def test_a_member_that_computes_without_end_is_ended_by_the_kernel(mark: str) -> None:
    async with open_crew(mark, cpu_seconds=0.2) as crewed:
        with pytest.raises(MemberLost):
            await crewed.ask("spin")
        assert await crewed.ask("echo well") == "well"
    await gone(mark)


async def test_a_member_that_has_grown_does_its_order_and_is_replaced(mark: str) -> None:
    async with open_crew(mark, memory_bytes=200 << 20) as crewed:
        before = await crewed.ask("pid")
        assert await crewed.ask(f"grow {110 << 20}") == ""
        assert await crewed.ask("pid") != before
    await gone(mark)


async def test_an_order_that_takes_too_long_ends_its_member(mark: str) -> None:
    async with open_crew(mark, most=1) as crewed:
        with pytest.raises(OrderOverdue):
            await crewed.crew.do(b"sleep 1000", seconds=0.05)
        assert await crewed.ask("echo well") == "well"
    await gone(mark)


@pytest.mark.parametrize(("order", "stays"), [("wait", True), ("sleep 1000", False)])
async def test_a_cancelled_order_ends_and_its_member_stays_if_it_stops(mark: str, order: str, stays: bool) -> None:
    async with open_crew(mark, most=1) as crewed:
        before = await crewed.ask("pid")
        with trio.fail_after(PATIENCE), trio.CancelScope() as scope:
            await crewed.crew.do(order.encode(), lambda part: scope.cancel(), seconds=PATIENCE)
        assert scope.cancelled_caught
        assert (await crewed.ask("pid") == before) is stays
    await gone(mark)


async def test_whoever_finds_all_at_work_waits_and_may_give_up(mark: str) -> None:
    async with open_crew(mark, most=1) as crewed, trio.open_nursery() as nursery:
        asleep = trio.Event()

        async def hold() -> None:
            await crewed.crew.do(b"wait", lambda part: asleep.set(), seconds=PATIENCE)

        nursery.start_soon(hold)
        await asleep.wait()
        with trio.move_on_after(0.05):
            await crewed.ask("echo never")
        assert crewed.statistics().waiting == 0
        nursery.cancel_scope.cancel()


async def test_a_member_that_is_killed_while_it_is_idle_is_not_noticed(mark: str) -> None:
    async with open_crew(mark) as crewed:
        os.kill(int(await crewed.ask("pid")), signal.SIGKILL)
        await gone(mark)
        assert await crewed.ask("echo well") == "well"


async def test_members_that_nobody_needs_end(mark: str) -> None:
    async with open_crew(mark, idle_seconds=0.05) as crewed:
        await crewed.ask("echo well")
        await gone(mark)
        assert crewed.statistics().pids == ()
        assert await crewed.ask("echo well") == "well"


async def test_members_are_lent_as_often_as_anybody_likes_within_the_time_that_they_may_be_idle(mark: str) -> None:
    async with open_crew(mark, most=1) as crewed:
        pids = {await crewed.ask("pid") for _ in range(Mailbox().capacity + 10)}  # an actor has no more timers
        assert (len(pids), len(crewed.lives)) == (1, 1)


async def test_a_member_that_is_needed_again_and_again_ends_when_it_is_not_needed_any_more(mark: str) -> None:
    async with open_crew(mark, most=2, idle_seconds=0.05) as crewed:
        async with trio.open_nursery() as nursery:
            for _ in range(200):
                nursery.start_soon(crewed.ask, "echo well")
        await gone(mark)
        assert (crewed.statistics().pids, len(crewed.lives)) == ((), 1)


async def test_when_the_foreman_crashes_its_members_are_killed_and_the_next_order_is_done(mark: str) -> None:
    async with open_crew(mark, most=1) as crewed:
        before = await crewed.ask("pid")
        foreman = crewed.lives[-1].ref

        async def ends() -> None:
            with pytest.raises(MemberLost):
                await crewed.crew.do(b"sleep 1000", lambda part: foreman.kill(), seconds=PATIENCE)

        await ends()
        assert await crewed.ask("pid") != before
        assert len(crewed.lives) == 2
    await gone(mark)


async def test_where_no_process_can_be_started_that_is_told(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async with open_crew(mark) as crewed:
        with monkeypatch.context() as full:
            full.setattr(socket, "socketpair", refused)
            with pytest.raises(NeverReady, match=r"^no process can be started: Too many open files$"):
                await crewed.ask("echo well")
        assert await crewed.ask("echo well") == "well"


async def test_a_program_that_cannot_start_is_told_apart(mark: str) -> None:
    async with open_crew(mark, program="/nowhere/member.py") as crewed:
        for _ in range(3):
            with pytest.raises(NeverReady):
                await crewed.ask("echo well")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_members_die_with_their_server_also_while_they_compute_and_with_their_group(
    mark: str, number: signal.Signals
) -> None:
    program = [sys.executable, "-m", "tests.transports.process.crewed", "own", mark]
    with subprocess.Popen(program, cwd=ROOT) as server:  # noqa: ASYNC220  it is to be killed
        with trio.fail_after(PATIENCE):
            while len(marked(mark)) < 4:  # noqa: ASYNC110  the server, two members, and what one has forked
                await trio.sleep(0.01)
        server.send_signal(number)
        server.wait()
    assert await gone(mark) < 5
