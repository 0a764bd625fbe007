"""`python -m bench`: what it lists, runs and answers."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bench
from bench.__main__ import discover, main
from bench.harness import Bench, Result


class Fake:
    ABOUT = "nothing is measured"

    def __init__(self, name: str) -> None:
        self.NAME = name

    def run(self, rounds: int) -> Iterator[Result]:
        yield Result(self.NAME, "a case", "a peer", 1.0, 2.0, "msg/s", 0.5, goal=1.0)
        yield Result(self.NAME, "a case", "another", float(rounds), 2.0, "msg/s", 1.5)


FAKES: dict[str, Bench] = {name: Fake(name) for name in ("one", "two")}


def test_without_a_name_the_benches_are_listed_with_a_sentence_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], FAKES) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[2:]] == [[name, "nothing", "is", "measured"] for name in ("one", "two")]


def test_a_missed_goal_is_no_failure_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["one"], FAKES) == 0
    assert "MISSED" in capsys.readouterr().out


def test_several_benches_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["two", "one", "--json"], FAKES) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["bench"] for line in lines] == ["two", "two", "one", "one"]


def test_a_bench_is_told_how_many_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["one", "--json", "--rounds", "7"], FAKES) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1])["ours"] == 7.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["three"], "there is no bench 'three'; there are: one, two"),
        (["one", "--rounds", "0"], "invalid number of at least 1 value: '0'"),
        (["one", "--rounds", "many"], "invalid number of at least 1 value: 'many'"),
    ],
)
def test_what_cannot_be_run_is_answered_in_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments, FAKES)
    assert exit_.value.code == 2
    assert sentence in capsys.readouterr().err


def test_modules_with_a_name_are_benches_and_others_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "some_benches"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "__main__.py").write_text("raise AssertionError('this is the command, not a bench')")
    (folder / "tools.py").write_text("SPEED = 1\n")
    (folder / "race.py").write_text("NAME = 'foot race'\nABOUT = 'ours beside a hare'\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert {name: found.ABOUT for name, found in discover("some_benches", [str(folder)]).items()} == {
        "foot race": "ours beside a hare"
    }


def test_every_bench_of_ours_says_what_it_is_in_one_line() -> None:
    found = discover("bench", bench.__path__)
    assert "mailbox" in found
    assert [name for name, each in found.items() if not each.ABOUT or "\n" in each.ABOUT] == []


@pytest.mark.slow
def test_python_m_bench_lists_the_mailbox() -> None:
    root = Path(bench.__file__).parent.parent
    done = subprocess.run([sys.executable, "-m", "bench"], cwd=root, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "  mailbox " in done.stdout


@pytest.mark.slow
def test_a_reader_who_has_read_enough_sees_no_traceback() -> None:
    root = Path(bench.__file__).parent.parent
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "bench"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == ("", 0)
