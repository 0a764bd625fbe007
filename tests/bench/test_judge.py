"""The sides of the judge's bench run what is measured, detect failures, and report missing programs."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench import judge
from bench.contenders.client import HEAD_END, Stuck, compact
from bench.contenders.panel import Panel
from bench.relay import Running, running
from codec.judge import read_task

Served = tuple[Running, Path]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server with the problems `echo`, whose third case is wrong, and `flood`."""
    with judge.house() as place:
        workspace = place / "workspace"
        cases = [(b"1\n", b"1\n"), (b"2\n", b"2\n"), (b"3\n", b"4\n")]
        judge.put(workspace, "wrong", judge.ECHO, cases)
        judge.put(workspace, "echo", judge.ECHO, cases[:2])
        with running(judge.ours(place)) as server:
            yield server, place


@pytest.mark.slow
def test_ours_judges_what_a_page_clicks(served: Served) -> None:
    server, _ = served
    assert judge._all_passed(server, "echo", 2) > 0
    with judge.page(server, "wrong") as panel:
        assert [result["verdict"] for result in panel.run_all()] == ["AC", "AC", "WA"]
        assert panel.run_one(3)["verdict"] == "WA"
        panel.settle()
        assert panel.run_one(1)["verdict"] == "AC"


@pytest.mark.slow
def test_a_run_that_does_not_pass_is_no_figure(served: Served) -> None:
    with pytest.raises(Stuck, match=r"not all of 3 cases passed: \['AC', 'AC', 'WA'\]"):
        judge._all_passed(served[0], "wrong", 3)


@pytest.mark.slow
def test_what_the_judge_refuses_is_said(served: Served) -> None:
    with judge.page(served[0], "echo") as panel, pytest.raises(Stuck, match=r"the judge says: .* has no case 9"):
        panel.run_one(9)


@pytest.mark.slow
def test_posts_are_answered_and_become_folders(served: Served) -> None:
    server, place = served
    result = judge._posts(server, 0.1)
    assert (result.unit, result.theirs, result.goal) == ("ms", 20.0, 1.0)
    assert result.ours is not None
    assert result.ours > 0
    with closing(Panel(server.port)) as panel:
        panel.open("bench1/bench1_3")
    assert (place / "workspace" / "bench1" / "bench1_3" / "tests" / "3.out").read_text() == "11\n"


@pytest.mark.slow
def test_posts_that_are_refused_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "posted", lambda number: {"name": ""} if number % 2 else {"not": "a problem"})
    with judge.house() as place, running(judge.ours(place)) as server:  # of its own: its next page hears of them
        result = judge._posts(server, 0.1)
    assert (result.ratio, result.goal) == (None, 1.0)
    assert result.why is not None
    assert "of 10 posts were refused" in result.why


@pytest.mark.slow
def test_the_peak_of_the_server_is_known(served: Served) -> None:
    server, place = served
    assert judge._peak(judge._pid(place / "state")) >= server.resident() // 2 > 1 << 20


@pytest.mark.slow
def test_the_bare_loop_waits_for_all_it_spawns(tmp_path: Path) -> None:
    main = "import os\nopen(os.path.join(os.path.dirname(__file__), input()), 'w').close()\n"
    folder = judge.put(tmp_path, "touch", main, [(b"%d\n" % number, b"") for number in range(5)])
    with judge.bare() as loop:
        assert loop.run(folder, range(1, 6), 2) > 0
        assert sorted(path.name for path in folder.iterdir()) == ["0", "1", "2", "3", "4", "main.py", "tests"]


@pytest.mark.slow
def test_the_interpreter_is_no_shim() -> None:
    found = judge.interpreter()
    assert os.path.realpath(found) == found
    with open(found, "rb") as program:
        assert program.read(2) != b"#!"


def test_an_oj_that_cannot_be_installed_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuses(command: list[str], **_: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 1, "", "first\nno way to the index\n")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(judge, "interpreter", lambda: "python")
    monkeypatch.setattr(subprocess, "run", refuses)
    assert judge.oj() == "oj could not be installed: no way to the index"


@pytest.mark.slow
def test_the_missing_oj_is_a_line_among_the_results(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server, place = served
    monkeypatch.setattr(judge, "CASES", 2)
    with judge.bare() as loop:
        results = list(judge._run_all(server, loop, "no oj today", place / "workspace" / "bench" / "echo", 1))
    assert [(each.peer, each.goal, each.why) for each in results] == [
        ("a bare spawn loop", 0.85, None),
        ("oj test", 5.5, "no oj today"),
    ]
    assert results[0].ratio is not None


def test_what_is_posted_is_a_problem() -> None:
    task = read_task(compact(judge.posted(7)))
    assert (task.name, len(task.tests), task.tests[2].output) == ("A - Number 7", 3, "9\n")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"HTTP/1.1 403 Forbidden" + HEAD_END, "did not accept a page: HTTP/1.1 403 Forbidden"),
        (b"", "closed a connection"),
    ],
)
def test_a_page_that_is_refused_says_so(answer: bytes, sentence: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(10_000)
                connection.sendall(answer)

        thread = threading.Thread(target=refuse)
        thread.start()
        with pytest.raises(Stuck, match=sentence):
            Panel(server.getsockname()[1])
        thread.join()


def test_a_long_file_is_what_was_in_it_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"line\n")
    judge._grow(tmp_path / "file", 25)
    assert (tmp_path / "file").read_bytes() == b"line\n" * 5
