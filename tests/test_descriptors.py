"""Whoever closes a descriptor for which a task waits is found out, in a test and in a server that a test has forked."""

from pathlib import Path

import pytest

from tests.house.forking import Forked
from tests.planted import run_pytest

WAIT = """
import socket
import trio

async def closed_meanwhile(announced):
    ours, theirs = socket.socketpair()
    with theirs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits, ours)
            await trio.testing.wait_all_tasks_blocked()
            if announced:
                trio.lowlevel.notify_closing(ours)
            ours.close()
            nursery.cancel_scope.cancel()

async def waits(ours):
    try:
        await trio.lowlevel.wait_readable(ours)
    except trio.ClosedResourceError:
        pass
"""
PLANTED = f"""{WAIT}
import trio.testing

async def test_it_is_closed(): await closed_meanwhile(announced=False)

async def test_it_is_announced(): await closed_meanwhile(announced=True)

async def test_another_took_its_number():
    ours, theirs = socket.socketpair()
    with theirs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits, ours)
            await trio.testing.wait_all_tasks_blocked()
            number = ours.fileno()
            ours.close()
            others = socket.socketpair()
            assert number in [each.fileno() for each in others]
            nursery.cancel_scope.cancel()
    for each in others:
        each.close()

async def test_nobody_waits_any_more():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with trio.move_on_after(0):
            await trio.lowlevel.wait_readable(ours)
        theirs.send(b"x")
        await trio.lowlevel.wait_readable(ours)
"""


@pytest.mark.slow
def test_a_test_that_closes_what_is_waited_for_fails_with_the_name_of_who_waits(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text(PLANTED)
    run = run_pytest(tmp_path, "-p", "tests.descriptors", "-p", "no:randomly", "-o", "trio_mode=true")
    assert "2 failed, 2 passed" in run.stdout, run.stdout + run.stderr
    assert run.stdout.count("waits waited for descriptor") >= 2
    for fails in ("test_it_is_closed", "test_another_took_its_number"):
        assert f"FAILED test_planted.py::{fails}" in run.stdout


@pytest.mark.slow
def test_a_forked_server_that_does_so_ends_with_that_word(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"{WAIT}\nimport trio.testing\ntrio.run(closed_meanwhile, False)\nprint('it went on')\n")
    with Forked([str(program)], cwd=tmp_path, env={}) as process:
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, said) == (70, "")
    assert "waits waited for descriptor" in complained
