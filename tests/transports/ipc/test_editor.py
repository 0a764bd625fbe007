"""Real editors: small programs that stay, hand over, leave their session, ignore TERM, or fail."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from tests.patience import PATIENCE
from tests.transports.ipc.places import opened
from transports.ipc import editor as module
from transports.ipc.editor import DetachedEditor, editor_env
from transports.ipc.processes import MARK, Census, Known

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells so much of processes")

STAYS = "exec sleep 300"
HANDS_OVER = "setsid sleep 300 & exit 0"
"""As `code` does: the editor leaves the session, and the command ends with 0."""
FAMILY = "sleep 300 & setsid sleep 300 & exec sleep 300"
STUBBORN = "trap 'echo asked >> log' TERM; echo ready >> log; while :; do sleep 0.02; done"

HOLDS = "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print(flush=True); time.sleep(300)"

Make = Callable[..., DetachedEditor]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Whatever was launched is gone after the test."""
    folder = tmp_path / "state"
    folder.mkdir()
    made: list[DetachedEditor] = []

    def one(script: str = STAYS, **more: object) -> DetachedEditor:
        command = [*more.pop("command", ["/bin/sh", "-c", script])]  # type: ignore[misc]
        made.append(DetachedEditor(command, folder, cwd=tmp_path, **more))  # type: ignore[arg-type]
        return made[-1]

    yield one
    census = Census()
    for each in made:
        if each._record is not None:
            for member in each._family(each._record):
                census.signal(member, signal.SIGKILL)
        each.release()


def beside(*command: str, stdout: int | None = None) -> subprocess.Popen[bytes]:
    """Nothing of the editor's."""
    return subprocess.Popen(command, stdout=stdout)


def files_of(pid: int) -> set[str]:
    """What it has open, whatever it opens and closes meanwhile."""
    found = set[str]()
    for each in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            found.add(os.readlink(f"/proc/{pid}/fd/{each}"))
    return found


def family(made: DetachedEditor) -> set[Known]:
    assert made._record is not None
    return made._family(made._record)


async def until(condition: Callable[[], object]) -> None:
    with trio.fail_after(PATIENCE):
        while not condition():  # noqa: ASYNC110 - it is the system that is asked
            await trio.sleep(0.01)


async def ended(made: DetachedEditor) -> int | None:
    """Its exit code, when nothing is left of it."""
    with trio.fail_after(PATIENCE):
        while (seen := await made.look()).pid is not None:  # noqa: ASYNC110 - it is the system that is asked
            await trio.sleep(0.01)
    return seen.code


async def test_of_two_managers_one_has_the_editor_and_the_kernel_gives_it_to_the_other_when_he_dies(
    make: Make, tmp_path: Path
) -> None:
    lock = tmp_path / "state" / "editor.lock"
    other = beside(sys.executable, "-c", HOLDS, str(lock), stdout=subprocess.PIPE)
    assert other.stdout is not None
    with other:
        other.stdout.read(1)
        one, two = make(), make()
        assert "is managed by another process" in (await one.claim() or "")
        other.kill()
    assert await one.claim() is None
    assert await one.claim() is None
    assert f"process {os.getpid()}" in (await two.claim() or "")
    one.release()
    assert await two.claim() is None


async def test_a_folder_that_was_removed_and_made_again_has_another_claim(make: Make, tmp_path: Path) -> None:
    one, two = make(), make()
    assert await one.claim() is None
    (tmp_path / "state").rename(tmp_path / "moved")
    assert "cannot be used" in (await one.claim() or "")
    (tmp_path / "state").mkdir()
    assert await two.claim() is None
    assert "is managed by" in (await one.claim() or "")


async def test_a_link_in_place_of_the_lock_or_of_the_folder_is_refused(make: Make, tmp_path: Path) -> None:
    (tmp_path / "state" / "editor.lock").symlink_to(tmp_path / "elsewhere")
    assert "cannot be used" in (await make().claim() or "")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("what", ["taken", "a link", "a second name", "a folder", "a pipe", "not there"])
async def test_a_claim_that_is_refused_leaves_nothing_open(make: Make, tmp_path: Path, what: str) -> None:
    state, lock = tmp_path / "state", tmp_path / "state" / "editor.lock"
    match what:
        case "taken":
            assert await make().claim() is None
        case "a link":
            lock.symlink_to(tmp_path / "elsewhere")
        case "a second name":
            (tmp_path / "document").write_text("mine")
            lock.hardlink_to(tmp_path / "document")
        case "a folder":
            lock.mkdir()
        case "a pipe":
            os.mkfifo(lock)
        case "not there":
            state.rmdir()
    before = opened(tmp_path)
    assert await make().claim() is not None
    assert opened(tmp_path) == before


async def test_a_launch_lives_on_in_a_session_of_its_own_with_nothing_of_ours(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    made = make("env; echo out; echo err >&2; exec sleep 300", log=log, env=editor_env({**os.environ, "SECRET": "x"}))
    assert await made.claim() is None
    assert await made.launch() is None
    seen = await made.look()
    assert seen.pid is not None
    await until(lambda: "err" in log.read_text())
    assert os.getsid(seen.pid) == seen.pid != os.getsid(0)
    assert "SECRET" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    pid = seen.pid  # while it is loaded it has its libraries open
    await until(lambda: files_of(pid) == {"/dev/null", str(log)})
    made.release()
    assert Census().start(seen.pid) is not None


async def test_it_is_known_again_by_the_next_process_and_has_its_age(make: Make) -> None:
    first = make()
    await first.claim()
    await first.launch()
    seen = await first.look()
    first.release()
    second = make()
    assert await second.claim() is None
    again = await second.look()
    assert again.pid == seen.pid
    assert 0 <= seen.age <= again.age < 20
    assert again.code is None


async def test_a_launch_is_found_again_though_we_were_killed_before_its_process_was_written_down(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make()
    await first.claim()
    monkeypatch.setattr(Census, "start", lambda self, pid: None)
    await first.launch()
    monkeypatch.undo()
    first.release()
    second = make()
    await second.claim()
    assert (await second.look()).pid is not None


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"token": "", "boot": "x", "at": 0, "pid": 1, "start": 1}'])
async def test_a_record_that_is_none_of_this_machines_run_is_no_launch(
    make: Make, tmp_path: Path, content: str
) -> None:
    (tmp_path / "state" / "editor.json").write_text(content)
    made = make()
    await made.claim()
    assert (await made.look()).pid is None


async def test_an_id_that_was_given_out_again_is_not_taken_for_the_editor(make: Make, tmp_path: Path) -> None:
    boot = Census().boot
    record = f'{{"token": "{"0" * 32}", "boot": "{boot}", "at": 0, "pid": {os.getppid()}, "start": 1}}'
    (tmp_path / "state" / "editor.json").write_text(record)
    made = make()
    await made.claim()
    assert (await made.look()).pid is None
    await made.end(hard=True)
    assert Census().start(os.getppid()) is not None


async def test_a_look_that_finds_nothing_left_tells_the_exit_code_though_the_end_came_while_it_looked(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordinary = Census.start

    made = make()
    await made.claim()
    await made.launch()
    launched = (await made.look()).pid
    assert launched is not None

    def start(self: Census, pid: int) -> int | None:
        if pid == launched:
            os.kill(launched, signal.SIGKILL)
            os.waitid(os.P_PID, launched, os.WEXITED | os.WNOWAIT)
        return ordinary(self, pid)

    monkeypatch.setattr(Census, "start", start)
    seen = await made.look()
    monkeypatch.undo()
    assert (seen.pid, seen.code) == (None, -signal.SIGKILL)


@pytest.mark.parametrize("token", ["0" * 32, "x", "=", "\0"])
async def test_a_record_that_names_another_process_of_ours_makes_it_neither_the_editor_nor_ends_it(
    make: Make, tmp_path: Path, token: str
) -> None:
    bystander = beside("/bin/sleep", "300")
    census = Census()
    fields = {"token": token, "boot": census.boot, "at": 0, "pid": bystander.pid, "start": census.start(bystander.pid)}
    (tmp_path / "state" / "editor.json").write_text(json.dumps(fields))
    made = make()
    await made.claim()
    assert (await made.look()).pid is None
    await made.end(hard=True)
    assert await made.launch() is None
    seen = await made.look()
    assert seen.pid not in (None, bystander.pid)
    await made.end(hard=True)
    assert await ended(made) == -signal.SIGKILL
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


async def test_of_a_record_whose_process_lives_what_has_lived_longer_is_not_the_editor(
    make: Make, tmp_path: Path
) -> None:
    first = make(FAMILY)
    await first.claim()
    await first.launch()
    await until(lambda: len(family(first)) == 3)
    assert first._record is not None
    youngest = max(family(first), key=lambda each: (each.start, each.pid))
    first._write(replace(first._record, process=youngest))  # as after a handover
    first.release()
    second = make()
    await second.claim()
    assert (await second.look()).pid == youngest.pid


async def test_a_command_that_hands_over_to_another_session_is_followed(make: Make) -> None:
    made = make(HANDS_OVER)
    await made.claim()
    await made.launch()
    assert made._process is not None
    command = made._process
    await until(lambda: command.poll() == 0)
    seen = await made.look()
    assert seen.pid not in (None, command.pid)
    assert seen.code == 0
    made.release()
    again = make()
    await again.claim()
    assert (await again.look()).pid == seen.pid


async def test_what_lives_on_in_its_terminals_is_not_the_editor_later(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HANDOVER_SECONDS", 0.0)
    made = make("setsid sleep 300 & exec sleep 300")
    await made.claim()
    await made.launch()
    seen = await made.look()
    assert seen.pid is not None
    await until(lambda: len(family(made)) == 2)
    os.kill(seen.pid, signal.SIGKILL)
    await ended(made)
    assert len(family(made)) == 1


@pytest.mark.parametrize("script", [STAYS, HANDS_OVER, FAMILY])
async def test_all_that_was_launched_is_ended_and_nothing_else(make: Make, script: str) -> None:
    bystander = beside("/bin/sleep", "300")
    made, other = make(script), make()
    await made.claim()
    await made.launch()
    await until(lambda: len(family(made)) == {STAYS: 1, HANDS_OVER: 1, FAMILY: 3}[script])
    with trio.fail_after(PATIENCE):
        while family(made):
            await made.end(hard=False)
            await trio.sleep(0.02)
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
    other.release()


async def test_each_process_is_asked_once_and_one_that_ignores_it_is_ended(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    made = make(STUBBORN)
    await made.claim()
    await made.launch()
    pid = (await made.look()).pid
    await until(log.exists)
    await made.end(hard=False)
    await until(lambda: "asked" in log.read_text())
    await made.end(hard=False)
    assert (await made.look()).pid == pid
    await made.end(hard=True)
    assert await ended(made) == -signal.SIGKILL
    assert log.read_text() == "ready\nasked\n"


async def test_we_are_never_part_of_it_though_we_were_started_in_its_terminal(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make()
    await made.claim()
    await made.launch()
    assert made._record is not None
    token = made._record.token
    ours = beside("/bin/sleep", "300")
    monkeypatch.setattr(
        Census, "_environment", lambda self, pid: f"{MARK}={token}\0".encode() if pid == os.getpid() else b""
    )
    await made.end(hard=True)
    assert await ended(made) == -signal.SIGKILL
    assert ours.poll() is None
    ours.kill()
    ours.wait()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([], "The editor's command is empty."),
        (["no-such-editor"], "The editor cannot be started: 'no-such-editor' was not found on the PATH."),
        (["./none"], "does not exist in"),
        (["/etc/passwd"], "may not be executed"),
        (["/bin/sh", "a\0b"], "cannot be started"),
    ],
)
async def test_a_command_that_cannot_be_started_is_explained(make: Make, command: list[str], said: str) -> None:
    made = make(command=command)
    await made.claim()
    assert said in (await made.launch() or "")
    assert (await made.look()).pid is None


async def test_a_command_that_fails_says_its_code(make: Make) -> None:
    made = make("exit 3")
    await made.claim()
    assert await made.launch() is None
    assert await ended(made) == 3


async def test_without_proc_a_launch_is_its_process_group(make: Make, tmp_path: Path) -> None:
    made = make("sleep 300 & exec sleep 300", proc=tmp_path / "none")
    await made.claim()
    assert await made.launch() is None
    seen = await made.look()
    assert seen.pid is not None
    await made.end(hard=False)
    assert await ended(made) == -signal.SIGTERM
    with suppress(ProcessLookupError):
        os.killpg(seen.pid, signal.SIGKILL)
