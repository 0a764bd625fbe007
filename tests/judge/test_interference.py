"""Solutions that kill their launcher, on a running server: honest ones beside them get their verdicts, and nobody else
notices."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio

from actors.judge.verdicts import INTERFERENCE
from tests.house.running import PROGRAM, server
from tests.judge.port import EXAMPLES, Port
from tests.patience import PATIENCE
from tests.transports.process.hostile import HOSTILE, program

UNPROTECTED = Path(__file__).with_name("unprotected_server.py")
LAUNCHER = "troupe/judge/launcher/process"
ROUNDS = 2
SLOW_SUMS = "import time\na, b = map(int, input().split())\ntime.sleep(0.05)\nprint(a + b)\n"


@pytest.mark.timeout(300)
@pytest.mark.slow
@pytest.mark.parametrize("protected", [False, True], ids=["unprotected", "as the kernel protects it"])
async def test_a_storm_of_hostile_solutions_costs_the_honest_beside_it_nothing_but_time(
    tmp_path: Path, protected: bool
) -> None:
    """Each case of the hostile one does something else, four at once."""
    sources = [program(name) for name in HOSTILE]
    hostile = f"import sys\nexec({sources!r}[int(sys.stdin.readline())])\n"
    cases = [(f"{number}\n", "never\n") for number in range(len(HOSTILE))]
    options = ("--set", f"judge.workspace={tmp_path}/workspace", "--set", "judge.jobs=4")
    with server(tmp_path, *options, program=PROGRAM if protected else UNPROTECTED) as house:
        port = Port(house.ready(), tmp_path / "workspace")
        async with AsyncExitStack() as stack:
            honest = await stack.enter_async_context(port.solving("storm/honest", SLOW_SUMS, *EXAMPLES, timeLimit=8000))
            await honest.say("ui/requestInit", problemId="storm/honest", follow=False)
            other = await stack.enter_async_context(port.solving("storm/hostile", hostile, *cases, timeLimit=300))
            nursery = await stack.enter_async_context(trio.open_nursery())
            blamed = []

            async def storms() -> None:
                blamed.extend(await other.run())

            nursery.start_soon(storms)
            for _ in range(ROUNDS):
                results = await honest.run()
                assert [result["verdict"] for result in results] == ["AC"] * len(EXAMPLES), results
        assert len(blamed) == len(cases)
        assert {result["verdict"] for result in blamed} <= {"RE", "TLE"}
        if not protected:
            assert {result["reason"] for result in blamed} == {INTERFERENCE}
        await port.gone("storm/hostile")
        restarted = [node["path"] for node in house.json("/tree.json")["nodes"] if node["restarts"]]
        assert restarted in ([], [LAUNCHER])
        await port.is_healthy("storm/honest")
        assert house.stop() == 0, house.said


WRITES_AND_STAYS = """
import pathlib, time
for number in range(100):
    pathlib.Path(f"file-{number}").write_text("left")
time.sleep(1000)
"""


@pytest.mark.slow
async def test_what_a_run_has_left_is_gone_after_the_next_start_though_the_server_was_killed(tmp_path: Path) -> None:
    task, temporary = "left/left_a", tmp_path / "temporary"
    temporary.mkdir()
    options = ("--set", f"judge.workspace={tmp_path}/workspace")
    files = {"input": {"type": "file", "fileName": "a.in"}, "output": {"type": "file", "fileName": "a.out"}}
    with server(tmp_path, *options, environ={"TMPDIR": str(temporary)}) as house:
        port = Port(house.ready(), tmp_path / "workspace")
        async with port.solving(task, WRITES_AND_STAYS, EXAMPLES[0], **files) as panel:
            await panel.say("ui/runAll")
            with trio.fail_after(PATIENCE):
                while not [*temporary.glob("troupe-judge-*/file-99")]:  # noqa: ASYNC110  it is the disk that is asked
                    await trio.sleep(0.005)
            house.process.kill()
            house.ended()
        await port.gone(task)
        assert [*temporary.glob("troupe-judge-*")]
    with server(tmp_path, *options, environ={"TMPDIR": str(temporary)}) as house:
        house.ready()
        with trio.fail_after(PATIENCE):
            while [*temporary.glob("troupe-judge-*")]:  # noqa: ASYNC110  it is the disk that is asked
                await trio.sleep(0.005)
        assert house.stop() == 0, house.said
