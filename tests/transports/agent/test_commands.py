"""The agent's commands, as they are run here: real programs, in a real folder."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from codec.agent.action_events import StreamName
from codec.agent.commands import CommandOrder, CommandOutcome
from tests.transports.process.cornered import CORNERED
from tests.transports.process.house import PATIENCE, Processes, gone, marked, open_launcher
from transports.agent import commands as module
from transports.agent.commands import ShellCommands
from transports.process import keepers

ROOT = Path(__file__).parents[3]
NO_NETWORK = Path(__file__).parents[1] / "process" / "no_network_launcher.py"


@dataclass
class Workspace:
    processes: Processes
    commands: ShellCommands
    root: Path
    said: list[tuple[StreamName, str]] = field(default_factory=list)
    heard: Callable[[StreamName, str], object] = lambda stream, text: None
    stop: trio.Event = field(default_factory=trio.Event)

    def order(self, command: str | tuple[str, ...], **given: Any) -> CommandOrder:
        environment = {"MARK": self.processes.mark, **given.pop("environment", {})}
        return CommandOrder(command, str(self.root), environment=environment, **given)

    async def run(self, command: str | tuple[str, ...], **given: Any) -> CommandOutcome:
        with trio.fail_after(PATIENCE):
            outcome = await self.commands.run(self.order(command, **given), self._hear, self.stop)
        assert self.processes.left() == []
        return outcome

    def _hear(self, stream: StreamName, text: str) -> None:
        self.said.append((stream, text))
        self.heard(stream, text)


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    root = tmp_path / "workspace"
    root.mkdir()
    base = {**os.environ, "AWS_SECRET_ACCESS_KEY": "hush", "GITHUB_TOKEN": "hush", "GOPATH": "/go"}
    async with open_launcher(tmp_path) as processes:
        yield Workspace(processes, ShellCommands(processes.runner, base), root)


# -- what is run, and where


async def test_a_line_is_run_by_the_shell_and_words_are_run_as_they_are(workspace: Workspace) -> None:
    line = await workspace.run("echo one; exit 3")
    assert (line.ended, line.exit_code, line.why, line.stdout) == ("exited", 3, "", "one\n")
    words = await workspace.run(("printf", "%s\n", "a b", "$HOME; `id`"))
    assert (words.ended, words.exit_code, words.stdout) == ("exited", 0, "a b\n$HOME; `id`\n")


@pytest.mark.parametrize("line", ["-x", "--version", "-c id", "# nothing", ""])
async def test_a_line_is_never_an_option_of_the_shell(workspace: Workspace, line: str) -> None:
    outcome = await workspace.run(line)
    assert (outcome.ended, outcome.stdout) == ("exited", "")
    assert outcome.exit_code == (127 if line.startswith("-") else 0)


async def test_it_runs_in_its_folder_of_the_workspace(workspace: Workspace) -> None:
    (workspace.root / "src" / "deep").mkdir(parents=True)
    assert (await workspace.run("pwd -P")).stdout == f"{workspace.root}\n"
    assert (await workspace.run("pwd -P", folder="src/deep")).stdout == f"{workspace.root}/src/deep\n"


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("..", 'The path ".." leads upwards. Only what is in the workspace can be read.'),
        ("src/../..", 'The path "src/../.." leads upwards. Only what is in the workspace can be read.'),
        ("/etc", 'The path "/etc" is not one from the workspace\'s root, such as src/app.py.'),
        (".git", 'The path ".git" leads into .git, which is closed.'),
        ("link", "link is no plain file or folder of the workspace. Links are not followed."),
        ("link/ssl", "link/ssl is no plain file or folder of the workspace. Links are not followed."),
        ("file", "file is no plain file or folder of the workspace. Links are not followed."),
        ("missing", "missing is not there."),
        ("a\0b", 'The path "a\ufffdb" holds characters that no path may hold.'),
    ],
)
async def test_a_folder_that_is_none_of_the_workspace_is_refused(workspace: Workspace, folder: str, why: str) -> None:
    (workspace.root / "link").symlink_to("/etc")
    (workspace.root / "file").touch()
    outcome = await workspace.run("touch /tmp/never", folder=folder)
    assert (outcome.ended, outcome.exit_code, outcome.why) == ("not_started", None, why)


async def test_a_workspace_whose_own_name_is_a_link_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    workspace.root.rename(tmp_path / "away")
    workspace.root.symlink_to("/etc")
    outcome = await workspace.run("pwd")
    assert outcome.why == "The workspace's folder is no plain file or folder of the workspace. Links are not followed."


@pytest.mark.slow
async def test_a_folder_that_is_swapped_for_a_link_again_and_again_leads_nowhere_else(
    workspace: Workspace, tmp_path: Path
) -> None:
    """The command begins in the folder, or is refused; it never begins elsewhere."""
    here = workspace.root / "here"
    here.mkdir()
    (tmp_path / "outside").mkdir()
    number = here.stat().st_ino
    swaps = "while :; do mv here away; ln -s ../outside here; rm here; mv away here; done"
    swapping = subprocess.Popen(["/bin/sh", "-c", swaps], cwd=workspace.root, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
    ends = set()
    try:
        for _ in range(60):
            outcome = await workspace.run(("stat", "-c", "%i", "."), folder="here")
            ends.add(outcome.ended)
            if outcome.ended == "exited":
                assert outcome.stdout == f"{number}\n"
    finally:
        swapping.kill()
        swapping.wait()
    assert "exited" in ends
    assert ends <= {"exited", "not_started"}


async def test_a_folder_on_a_disk_that_does_not_answer_is_told_and_what_it_opens_later_is_closed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, late = threading.Event(), threading.Event()

    def enter(entering: Any) -> None:
        go.wait(30)
        plain(entering)
        late.set()

    plain = module._Entering.enter
    monkeypatch.setattr(module, "SECONDS", 0.05)
    monkeypatch.setattr(module._Entering, "enter", enter)
    outcome = await workspace.run("echo never")
    assert (outcome.ended, outcome.why) == ("not_started", f"The disk of {workspace.root} does not answer.")
    assert not late.is_set()
    before = len(os.listdir("/proc/self/fd"))
    go.set()
    assert await trio.to_thread.run_sync(late.wait, 30)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_what_cannot_be_started_says_why(workspace: Workspace) -> None:
    missing = "it was not found; or, if it is a script, the program that its first line names was not"
    refused: list[tuple[str | tuple[str, ...], str]] = [
        (("nothere",), f"'nothere' cannot be started: {missing}."),
        ((), "no program is named: the command is empty."),
        ("a\0b", "'/bin/sh' cannot be started: 'a\\x00b' has a NUL, which no program can be given."),
    ]
    for command, why in refused:
        outcome = await workspace.run(command)
        assert (outcome.ended, outcome.exit_code, outcome.why) == ("not_started", None, why)
    outcome = await workspace.run(("/bin/true", "x" * 200_000))
    assert outcome.ended == "not_started"
    assert outcome.why.endswith("put what is large in a file.")


async def test_its_input_is_empty(workspace: Workspace) -> None:
    assert (await workspace.run("cat; read line || echo nobody")).stdout == "nobody\n"


# -- its environment


async def environment(workspace: Workspace, **given: Any) -> Mapping[str, str]:
    outcome = await workspace.run(("env", "-0"), **given)
    return dict(pair.split("=", 1) for pair in outcome.stdout.split("\0") if pair)


async def test_it_gets_the_environment_that_is_told_and_no_other(workspace: Workspace) -> None:
    order = workspace.order("env -0", environment={"OWN": "a\nb"})
    assert await environment(workspace, environment={"OWN": "a\nb"}) == workspace.commands.environment(order)


async def test_it_gets_no_secret_and_nobody_asks_it_anything(workspace: Workspace) -> None:
    got = await environment(workspace)
    assert "hush" not in got.values()
    assert got["GOPATH"] == "/go"
    assert (got["TERM"], got["PAGER"], got["CI"], got["GIT_TERMINAL_PROMPT"]) == ("dumb", "cat", "1", "0")


async def test_an_order_may_change_what_it_gets_but_not_what_git_is_kept_from(workspace: Workspace) -> None:
    wished = {"CI": "0", "GIT_CONFIG_COUNT": "0", "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=id'", "GIT_PAGER": "id"}
    got = await environment(workspace, environment=wished)
    assert got["CI"] == "0"
    assert got["GIT_PAGER"] == "cat"
    assert got["GIT_CONFIG_COUNT"] != "0"
    assert "GIT_CONFIG_PARAMETERS" not in got


async def test_a_program_of_the_workspace_is_never_found_by_its_bare_name(workspace: Workspace) -> None:
    planted = workspace.root / "git"
    planted.write_text("#!/bin/sh\necho planted\n")
    planted.chmod(0o755)
    for path in (".:/usr/bin:/bin", ":/usr/bin:/bin", "/usr/bin:/bin:", "./:../workspace:/usr/bin:/bin", "", "."):
        got = await workspace.run("git --version; echo $PATH", environment={"PATH": path})
        assert got.stdout.startswith("git version")
        assert all(entry.startswith("/") for entry in got.stdout.splitlines()[-1].split(":"))
        assert (await workspace.run(("git", "--version"), environment={"PATH": path})).stdout.startswith("git version")


# -- its output


async def test_its_output_is_told_as_it_comes_and_as_text(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "go")
    go = os.open(workspace.root / "go", os.O_RDWR)
    workspace.heard = lambda stream, text: os.write(go, b"\n")
    try:
        line = r"printf 'on\303'; read l < go; printf '\251\377\033[1m\000' ; read l < go; printf 'err\342\202' >&2"
        outcome = await workspace.run(line)
    finally:
        os.close(go)
    assert workspace.said == [
        ("stdout", "on"),
        ("stdout", "é\ufffd\x1b[1m\0"),
        ("stderr", "err"),
        ("stderr", "\ufffd"),
    ]
    assert (outcome.stdout, outcome.stderr) == ("oné\ufffd\x1b[1m\0", "err\ufffd")


async def test_of_a_long_output_the_beginning_and_the_end_are_kept_and_no_character_is_cut(
    workspace: Workspace,
) -> None:
    outcome = await workspace.run(("/bin/sh", "-c", "for i in $(seq 300); do printf 'é€'; done"), output_bytes=101)
    head, missing, tail = outcome.stdout.split("\n")
    assert (head[:4], tail[-4:]) == ("é€é€", "é€é€")
    assert "\ufffd" not in outcome.stdout
    assert missing == "[... 1,399 bytes left out ...]"
    assert "".join(text for _, text in workspace.said) == "é€" * 300


async def test_a_flood_is_stopped(workspace: Workspace) -> None:
    outcome = await workspace.run("yes", output_bytes=1000)
    assert (outcome.ended, outcome.exit_code) == ("stopped", None)
    assert outcome.why == "It was stopped, because it wrote more than 64 MiB to one of its outputs."
    assert outcome.stdout.startswith("y\ny\n")


# -- its end


async def test_a_stop_ends_it_with_all_that_it_has_started(workspace: Workspace) -> None:
    workspace.heard = lambda stream, text: workspace.stop.set()
    outcome = await workspace.run((sys.executable, "-I", "-S", "-c", CORNERED))
    assert (outcome.ended, outcome.exit_code, outcome.why, outcome.stdout) == (
        "stopped",
        None,
        "It was stopped.",
        "up\n",
    )


async def test_what_it_leaves_behind_ends_with_it(workspace: Workspace) -> None:
    outcome = await workspace.run("setsid sleep 1000 & (sleep 1000 >/dev/null 2>&1 &) ; echo up")
    assert (outcome.ended, outcome.exit_code, outcome.stdout) == ("exited", 0, "up\n")


async def test_its_time_is_limited(workspace: Workspace) -> None:
    outcome = await workspace.run("trap '' TERM; sleep 1000", seconds=0.1)
    assert (outcome.ended, outcome.why) == ("stopped", "It was stopped, because it took longer than 0.1 seconds.")


async def test_its_memory_is_limited(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transports.agent.commands.MEMORY_SHARE", (64 << 20) / _memory())
    hog = "hog = []\nwhile True: hog.append(bytearray(b'x') * 1_000_000)"
    outcome = await workspace.run((sys.executable, "-c", hog))
    assert (outcome.ended, outcome.why) == (
        "stopped",
        "It was stopped, because it used more than 0.1 GiB of memory.",
    )


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


async def test_a_signal_that_ended_it_is_named(workspace: Workspace) -> None:
    outcome = await workspace.run("kill -SEGV $$")
    assert (outcome.ended, outcome.exit_code, outcome.why) == (
        "signalled",
        None,
        "It was ended by the signal SIGSEGV.",
    )


@pytest.mark.slow
async def test_when_the_launcher_is_killed_it_is_interrupted_and_nothing_is_left(workspace: Workspace) -> None:
    def kill(stream: StreamName, text: str) -> None:
        pid = workspace.processes.statistics().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    await workspace.commands.confines()
    workspace.heard = kill
    outcome = await workspace.run((sys.executable, "-I", "-S", "-c", CORNERED))
    assert (outcome.ended, outcome.exit_code) == ("interrupted", None)
    assert outcome.why == (
        "It was interrupted, because the program that runs commands had ended. Nothing of it is left."
    )
    workspace.heard = lambda stream, text: None
    assert (await workspace.run("echo well")).stdout == "well\n"


@pytest.mark.slow
async def test_when_the_server_is_killed_nothing_is_left(tmp_path: Path) -> None:
    mark = f"server-{tmp_path}"
    server = subprocess.Popen(  # noqa: ASYNC220  it is to be killed, not waited for
        [sys.executable, "-m", "tests.transports.agent.test_commands", mark, str(tmp_path)], cwd=ROOT
    )
    try:
        with trio.fail_after(PATIENCE):
            while len(marked(mark)) < 10:  # noqa: ASYNC110  it is the system that is asked
                await trio.sleep(0.01)
    finally:
        server.kill()
        server.wait()
    await gone(mark)


async def _serve(mark: str, folder: str) -> None:
    async with open_launcher(Path("/")) as processes:
        commands = ShellCommands(processes.runner)
        order = CommandOrder((sys.executable, "-c", CORNERED), folder, environment={"MARK": mark})
        await commands.run(order, lambda stream, text: None, trio.Event())


# -- the network


async def test_it_is_kept_off_the_network_unless_it_may_use_it(workspace: Workspace) -> None:
    assert await workspace.commands.confines()
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        without = await workspace.run((sys.executable, "-c", source))
        assert (without.exit_code, "Connection refused" in without.stderr) == (1, True)
        assert (await workspace.run((sys.executable, "-c", source), network=True)).exit_code == 0


async def test_where_it_cannot_be_kept_off_the_network_that_is_told_and_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keepers, "PROGRAM", NO_NETWORK)
    async with open_launcher(tmp_path) as processes:
        workspace = Workspace(processes, ShellCommands(processes.runner), tmp_path)
        assert not await workspace.commands.confines()
        assert (await workspace.run("echo well")).stdout == "well\n"


# -- git


async def test_in_a_repository_commands_run_on_a_machine_without_git_too(workspace: Workspace) -> None:
    (workspace.root / ".git").mkdir()
    workspace.commands = ShellCommands(workspace.processes.runner, {"PATH": "/nowhere"})
    assert (await workspace.run("echo well")).stdout == "well\n"


@pytest.fixture
def hostile(workspace: Workspace, tmp_path: Path) -> Callable[[], list[str]]:
    """The workspace is a repository whose own settings name programs. What of them has run?"""
    ran, root = tmp_path / "ran", workspace.root
    ran.mkdir()

    def program(name: str, rest: str = "") -> str:
        path = tmp_path / f"evil-{name}"
        path.write_text(f"#!/bin/sh\ntouch {ran}/{name}\n{rest}\n")
        path.chmod(0o755)
        return str(path)

    def git(*words: str, at: Path = root) -> None:
        subprocess.run(["git", *words], cwd=at, check=True, capture_output=True)

    git("init", "-q")
    git("config", "user.email", "a@example.org")
    git("config", "user.name", "a")
    (root / "file").write_text("one\n")
    git("add", ".")
    git("commit", "-qm", "one")
    (root / "file").write_text("two\n")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change", "pre-push"):
        os.symlink(program("hook"), hooks / hook)
        os.symlink(program("hook"), root / ".git" / "hooks" / hook)
    git("config", "core.hooksPath", str(hooks))
    git("config", "core.fsmonitor", program("fsmonitor"))
    git("config", "core.pager", program("pager", "cat"))
    git("config", "core.editor", program("editor"))
    git("config", "sequence.editor", program("editor"))
    git("config", "core.askPass", program("askpass"))
    git("config", "core.sshCommand", program("ssh"))
    git("config", "pager.log", program("pager", "cat"))
    (root / ".gitattributes").write_text("file diff=its-own.Driver\nother diff=another\n")
    (root / "other").write_text("one\n")
    git("add", ".gitattributes", "other")
    git("config", "diff.its-own.Driver.textconv", program("textconv", 'cat "$1"'))
    git("config", "diff.another.command", program("diff"))
    git("config", "diff.external", program("diff"))
    bare = root / "bare"
    bare.mkdir()
    git("init", "-q", "--bare", at=bare)
    git("config", "--file", "config", "core.fsmonitor", program("bare"), at=bare)
    git("config", "--file", "config", "core.worktree", str(root), at=bare)
    git("config", "--file", "config", "core.bare", "false", at=bare)
    for own in ran.iterdir():  # of what has just been settled
        own.unlink()
    return lambda: sorted(each.name for each in ran.iterdir())


GIT = (
    "git status",
    "git status --short",
    "git diff",
    "git diff --no-ext-diff",
    "git diff HEAD --ext-diff",
    "git log -p --ext-diff",
    "git log -p",
    "git show",
    "git add file",
    "git commit -qm two",
    "git commit --amend",
    "git checkout -q -b other",
    "git stash; git stash pop",
    "git rebase -i HEAD",
    "git ls-files -m",
    "git blame file",
    "cd bare && git status",
    "git ls-remote ssh://nobody@127.0.0.1/x",
    "git ls-remote https://127.0.0.1:1/x",
)


@pytest.mark.slow
async def test_a_plain_git_runs_nothing_that_a_repository_names(
    workspace: Workspace, hostile: Callable[[], list[str]]
) -> None:
    for line in GIT:
        outcome = await workspace.run(line, seconds=30)
        assert outcome.ended == "exited", (line, outcome)
        assert hostile() == [], line
        if "diff" in line and "--no-ext-diff" not in line:
            assert "external-diff-is-off--use--no-ext-diff" in outcome.stderr
    shown = await workspace.run("git log -p --no-ext-diff")
    assert "+one" in shown.stdout


@pytest.mark.slow
async def test_what_a_user_has_settled_for_all_repositories_holds(workspace: Workspace, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[diff "words"]\n textconv = tr a b <\n[user]\n name = me\n email = a@b\n')
    (workspace.root / ".gitattributes").write_text("* diff=words\n")
    (workspace.root / "file").write_text("aha\n")
    line = "git init -q && git add . && git commit -qm one && git show"
    outcome = await workspace.run(line, environment={"HOME": str(home)})
    assert "+bhb" in outcome.stdout


@pytest.mark.slow
async def test_without_these_settings_it_does(workspace: Workspace, hostile: Callable[[], list[str]]) -> None:
    for line in GIT:
        subprocess.run(line, shell=True, cwd=workspace.root, capture_output=True, stdin=subprocess.DEVNULL)  # noqa: ASYNC221
    assert set(hostile()) >= {"bare", "diff", "editor", "fsmonitor", "hook", "ssh", "textconv"}


if __name__ == "__main__":
    _, mark, folder = sys.argv
    trio.run(_serve, mark, folder)
