"""The judge from the outside: a real server, its port, real solutions."""

import os
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import trio

from codec.judge import LONGEST_TASK
from tests.house.running import server
from tests.judge.kit import post
from tests.judge.port import EXAMPLES, SUMS, Port, leaves_nothing
from tests.patience import PATIENCE
from tests.transports.folder.disks import read_only_disk

pytestmark = pytest.mark.slow

ENDLESS = "import time\ninput()\ntime.sleep(1000)\n"
LAST_SLEEPS = "import time\na, b = map(int, input().split())\nif a == 40:\n    time.sleep(1000)\nprint(a + b)\n"


# -- posts


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content_Type": "application/json"},
        {"Content_Type": "text/plain"},
        {"Origin": "chrome-extension://cjnmckjndlpiamhfimnnjmnckgghkjbl"},
        {"Origin": "moz-extension://1f4ea2a8-5c13-4c0c-a4c6-0c5ec1fd9c3b"},
        {"Origin": "safari-web-extension://1f4ea2a8"},
    ],
)
def test_a_post_is_taken_in_from_whoever_posts_problems(port: Port, headers: dict[str, str]) -> None:
    began = time.monotonic()
    answer = port.post(post("posts/posts_a"), **headers)
    assert (answer.status_code, answer.text) == (200, "taken in\n")
    assert time.monotonic() - began < PATIENCE


def test_chelpers_form_of_a_post_is_taken_where_it_is_asked_for(port: Port, tmp_path: Path) -> None:
    body = b"json\n" + post("chelper/chelper_a")
    assert "CHelper's form" in port.post(body).text
    options = ("--set", f"judge.workspace={tmp_path}/workspace", "--set", "judge.chelper=true")
    with server(tmp_path, *options) as house:
        other = Port(house.ready(), tmp_path / "workspace")
        assert other.post(body, Content_Type="text/plain").status_code == 200
        assert other.post(post("chelper/chelper_a")).status_code == 200


def test_a_post_is_taken_in_at_both_loopback_addresses(port: Port) -> None:
    number = urlsplit(port.url).port
    for host in ("127.0.0.1", "[::1]", "localhost"):
        assert port.post(post("posts/posts_b"), f"http://{host}:{number}/").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 421),
    ],
)
def test_a_web_page_posts_nothing(port: Port, headers: dict[str, str], status: int) -> None:
    answer = port.post(post("evil/evil_a"), Content_Type="text/plain", **headers)
    assert answer.status_code == status
    assert not port.folder("evil").exists()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "the body is empty"),
        (b"{", "not JSON"),
        (b"[1]", "expected one problem as a JSON object"),
        (b'{"name": "A"}', "the problem has no address"),
        (post("x/y", input={"type": "file", "fileName": "../../evil"}), "must be a plain file name"),
    ],
)
def test_what_is_no_problem_is_refused_in_a_sentence(port: Port, body: bytes, sentence: str) -> None:
    answer = port.post(body)
    assert answer.status_code == 400
    assert sentence in answer.text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "/", "GET, HEAD, OPTIONS, POST"), ("POST", "/x", "GET, HEAD, OPTIONS")],
)
def test_another_method_is_refused_in_a_sentence(port: Port, method: str, path: str, allowed: str) -> None:
    answer = httpx.request(method, port.url + path, timeout=PATIENCE)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.text == f"There is no {method} at {path!r}; it takes {allowed}.\n"


def test_a_post_has_a_limit(port: Port) -> None:
    address = urlsplit(port.url)
    with socket.create_connection((str(address.hostname), address.port or 0), PATIENCE) as client:
        head = f"POST / HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {LONGEST_TASK + 1}\r\n\r\n"
        client.sendall(head.encode())
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")


async def test_a_page_of_another_origin_gets_no_panel(port: Port) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    headers |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": "https://evil.example"}
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{port.url}/panel", headers=headers)).status_code == 403
        assert (await client.get(f"{port.url}/elsewhere", headers=headers | {"Origin": port.url})).status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "https://atcoder.jp/contests/../../tasks/../../etc"},
        {"url": "https://atcoder.jp/contests/..%2f..%2f/tasks/..%2f..%2fevil"},
        {"url": "https://codeforces.com/contest/..%00/problem/../../.."},
        {"url": "", "group": "../../..", "name": "../evil"},
        {"url": "", "group": "/etc", "name": "passwd\0"},
        {"url": "", "group": "C:\\evil", "name": "\\\\host\\share"},
    ],
)
async def test_no_post_leads_out_of_the_workspace(port: Port, fields: dict[str, str]) -> None:
    port.workspace.mkdir(exist_ok=True)  # it is made with the first problem
    around = set(port.workspace.parent.iterdir())
    async with port.panel() as panel:
        assert port.post(post("tricks/tricks_a", **fields)).status_code == 200
        told = await panel.heard("state/update")
        _contest, _task, main = Path(told["problem"]["mainPath"]).relative_to(port.workspace).parts
        assert main == "main.py"
        assert is_there(port, told["problem"]["mainPath"])
    assert set(port.workspace.parent.iterdir()) == around


def is_there(port: Port, path: str) -> bool:
    """As a plain file in the workspace, wherever links may lead."""
    return Path(path).is_file() and Path(path).resolve().is_relative_to(port.workspace.resolve())


async def test_what_is_posted_is_on_the_disk_when_it_is_shown(port: Port) -> None:
    async with port.solving("disk/disk_a", SUMS):
        tests = port.folder("disk/disk_a") / "tests"
        assert {path.name: path.read_text() for path in tests.iterdir()} == {
            f"{number}.{kind}": text
            for number, pair in enumerate(EXAMPLES, 1)
            for kind, text in zip(("in", "out"), pair, strict=True)
        }


async def test_posts_of_one_problem_at_once_are_one_problem(port: Port) -> None:
    task = "once/once_a"
    async with port.panel() as panel, httpx.AsyncClient(timeout=PATIENCE) as client, trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(lambda: client.post(port.url, content=post(task, *EXAMPLES)))
        assert len((await panel.shows(task))["cases"]) == 3
    async with port.solving("once/once_b", SUMS):  # which is told after all that was posted before it
        assert len(list((port.folder(task) / "tests").iterdir())) == 6


# -- runs


async def test_a_right_solution_is_accepted_in_every_case(port: Port) -> None:
    task = "runs/runs_green"
    async with port.solving(task, SUMS) as panel:
        await panel.say("ui/runAll")
        results, complete = await panel.ended()
        assert [(each["index"], each["status"], each["verdict"]) for each in results] == [
            (1, "pass", "AC"),
            (2, "pass", "AC"),
            (3, "pass", "AC"),
        ]
        assert [each["actual"] for each in results] == ["3\n", "4\n", "42\n"]
        assert all(0 < each["cpuMs"] < 2400 and each["memoryKb"] > 1000 for each in results)
        assert complete["summary"]["total"] == complete["summary"]["passed"] == 3
    await port.is_healthy(task)


async def test_the_panel_is_at_both_loopback_addresses(port: Port) -> None:
    for host in ("127.0.0.1", "::1"):
        async with port.panel(host) as panel:
            await panel.say("ui/runOne", index=1, problemId="../../x")
            assert (await panel.notice()).startswith("There is no problem '../../x' here. ")


TAKES_TURNS = """
import os
from pathlib import Path
here = Path(__file__).parent
os.replace(here / "{other}", here / "main.py")
print("{name}")
"""


async def test_a_version_that_was_there_for_a_moment_only_has_no_result_that_counts(port: Port) -> None:
    """Whether anybody has read the folder in that moment, or not."""
    task, first = "moment/moment_a", TAKES_TURNS.format(other="b.py", name="first")
    async with port.solving(task, first, ("1\n", "first\n"), ("2\n", "first\n")) as panel:
        (port.folder(task) / "b.py").write_text(TAKES_TURNS.format(other="a.py", name="second"))
        (port.folder(task) / "a.py").write_text(first)
        await panel.say("ui/updateSettings", settings={"jobs": 1})
        assert [each["actual"] for each in await panel.run()] == ["first\n", "second\n"]
        assert (port.folder(task) / "main.py").read_text() == first
        await panel.say("ui/requestInit", problemId=task)
        results = (await panel.heard("state/init"))["results"]
        assert [each["outdated"] for each in results] == [["solution"], ["solution"]]
        await panel.say("ui/updateSettings", settings={"jobs": None})
        await panel.heard("state/init", lambda said: said["settings"]["jobs"] is None)


async def test_a_wrong_answer_says_where_it_differs(port: Port) -> None:
    task = "runs/runs_wrong"
    async with port.solving(task, "input()\nprint(3)\n") as panel:
        results = await panel.run()
        assert [each["status"] for each in results] == ["pass", "fail", "fail"]
        assert results[1]["diffSummary"] == "line 1: expected '4' got '3'"
        assert results[2]["diffSummary"] == "line 1: expected '42' got '3'"
    await port.is_healthy(task)


async def test_a_traceback_is_shown_whole(port: Port) -> None:
    task = "runs/runs_error"
    async with port.solving(task, "def deep():\n    raise ValueError('no')\n\n\ndeep()\n") as panel:
        result = (await panel.run())[0]
        assert (result["status"], result["verdict"], result["exitCode"]) == ("re", "RE", 1)
        assert result["console"].startswith("Traceback (most recent call last):\n")
        assert result["console"].endswith("ValueError: no\n")
    await port.is_healthy(task)


async def test_what_python_cannot_read_is_no_program(port: Port) -> None:
    async with port.solving("runs/runs_syntax", "def\n") as panel:
        result = (await panel.run())[0]
        assert (result["status"], result["verdict"]) == ("re", "CE")
        assert "SyntaxError" in result["console"]


async def test_files_are_read_and_written_in_a_private_folder(port: Port) -> None:
    task = "runs/runs_files"
    source = "a, b = map(int, open('sum.in').read().split())\nprint(a + b, file=open('sum.out', 'w'))\n"
    fields = {"input": {"type": "file", "fileName": "sum.in"}, "output": {"type": "file", "fileName": "sum.out"}}
    async with port.solving(task, source, **fields) as panel:
        assert [each["status"] for each in await panel.run()] == ["pass"] * 3
    assert sorted(path.name for path in port.folder(task).iterdir()) == ["main.py", "tests"]


async def test_a_run_can_be_cancelled(port: Port) -> None:
    task = "runs/runs_cancel"
    async with port.solving(task, LAST_SLEEPS, timeLimit=100_000) as panel:
        await panel.say("ui/runAll")
        await panel.heard("run/result", lambda said: said["result"]["index"] == 2)
        await port.running(task)
        await panel.say("ui/cancel")
        _, complete = await panel.ended()
        assert (complete["cancelled"], complete["summary"]["total"]) == (True, 2)
        await port.nothing_is_left(task)
    await port.is_healthy(task)


async def test_a_panel_that_vanishes_takes_its_run_with_it(port: Port) -> None:
    task = "runs/runs_vanish"

    async def vanish() -> float:
        async with port.solving(task, ENDLESS, timeLimit=100_000) as panel:
            await panel.say("ui/runAll")
            await port.running(task, 2)
            await panel.stream.aclose()
            return await port.gone(task)

    await leaves_nothing(vanish)
    await port.is_healthy(task)


async def test_a_missing_pypy_is_told_with_what_to_install(port: Port) -> None:
    task = "runs/runs_pypy"
    async with port.solving(task, SUMS) as panel:
        await panel.say("ui/updateSettings", settings={"pypyCommand": "no-such-pypy3", "interpreter": "pypy"})
        await panel.heard("state/init", lambda said: said["settings"]["interpreter"] == "pypy")
        await panel.say("ui/runAll")
        why = "'no-such-pypy3' was not found on the PATH"
        assert (await panel.notice()).startswith(f"There is no PyPy to run this with: {why}. Install it")
        await panel.say("ui/updateSettings", settings={"pypyCommand": "/bin/false"})
        await panel.say("ui/runAll")
        why = "'/bin/false' (/bin/false) is not a Python interpreter that works: it ended with exit code 1"
        assert (await panel.notice()).startswith(f"There is no PyPy to run this with: {why}. Install it")
        await panel.say("ui/updateSettings", settings={"pypyCommand": sys.executable})
        assert [each["status"] for each in await panel.run()] == ["pass"] * 3
        await panel.say("ui/switchInterpreter", interpreter="cpython")
        await panel.heard("state/init", lambda said: said["settings"]["interpreter"] == "cpython")
    await port.is_healthy(task)


IS_PYPY = """
import sys
assert sys.implementation.name == "pypy"
a, b = map(int, input().split())
if a == 2:
    while True: pass
if a == 40:
    hog = b"x" * (a * 20_000_000)
print(a + b)
"""


@pytest.mark.timeout(300)
@pytest.mark.skipif(
    shutil.which("pypy3") is None and os.environ.get("CI") != "true", reason="there is no pypy3 on this machine"
)
async def test_a_real_pypy_runs_a_solution_within_its_limits(port: Port) -> None:
    task = "runs/runs_real_pypy"
    async with port.solving(task, IS_PYPY, timeLimit=2000, memoryLimit=512) as panel:
        await panel.say("ui/updateSettings", settings={"pypyCommand": "pypy3", "interpreter": "pypy"})
        await panel.heard("state/init", lambda said: said["settings"]["interpreter"] == "pypy")
        results = await panel.run()
        assert [each["verdict"] for each in results] == ["AC", "TLE", "MLE"], results
        await panel.say("ui/switchInterpreter", interpreter="cpython")
        await panel.heard("state/init", lambda said: said["settings"]["interpreter"] == "cpython")
    await port.is_healthy(task)


# -- the server's own end


async def test_a_run_that_was_killed_with_the_server_leaves_nothing_and_is_told_at_the_next_start(
    tmp_path: Path,
) -> None:
    options = ("--set", f"judge.workspace={tmp_path}/workspace", "--set", "judge.jobs=1")
    task = "abc1/abc1_a"

    async def kill() -> float:
        with server(tmp_path, *options) as house:
            port = Port(house.ready(), tmp_path / "workspace")
            async with port.solving(task, LAST_SLEEPS, timeLimit=100_000) as panel:
                await panel.say("ui/runAll")
                await panel.heard("run/result", lambda said: said["result"]["index"] == 2)
                await port.running(task)
                house.process.kill()
                late = await port.gone(task)
            house.ended()
            return late

    await leaves_nothing(kill)
    with server(tmp_path, *options) as house:
        port = Port(house.ready(), tmp_path / "workspace")
        async with port.panel() as panel:
            init = next(said for said in panel.told if said["type"] == "state/init")
            assert init["problem"]["id"] == task
            assert init["interrupted"] is True
        await port.is_healthy(task)
        assert house.stop() == 0


async def test_a_server_that_is_stopped_during_a_run_ends_soon_and_leaves_nothing(tmp_path: Path) -> None:
    task = "abc1/abc1_a"
    source = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{ENDLESS}"
    with server(tmp_path, "--set", f"judge.workspace={tmp_path}/workspace") as house:
        port = Port(house.ready(), tmp_path / "workspace")
        async with port.solving(task, source, timeLimit=100_000) as panel:
            await panel.say("ui/runAll")
            await port.running(task)
            began = time.monotonic()
            house.process.send_signal(signal.SIGTERM)
            code = await trio.to_thread.run_sync(house.ended)
        assert (code, time.monotonic() - began < PATIENCE) == (0, True), house.said
        await port.nothing_is_left(task)


async def test_in_a_workspace_that_is_read_only_a_post_is_told_in_words(tmp_path: Path) -> None:
    with (
        read_only_disk(tmp_path / "fixed") as disk,
        server(tmp_path / "house", "--set", f"judge.workspace={disk}") as house,
    ):
        port = Port(house.ready(), disk)
        async with port.panel() as panel:
            assert port.post(post("abc1/abc1_a")).status_code == 200
            notice = await panel.notice()
            assert notice.startswith(f"abc1_a was not written to {disk} yet: ")
            assert "Read-only file system" in notice or "Permission denied" in notice
            await panel.say("ui/requestInit")
            assert "problem" not in await panel.heard("state/init")
        assert house.stop() == 0
