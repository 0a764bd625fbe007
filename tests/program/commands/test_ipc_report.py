"""`troupe ipc report` over files that are only on paper."""

import argparse
import io
import json
import os
import signal
import stat
from pathlib import Path

import pytest

from codec.ipc.report import Papers
from program import status
from program.commands import ipc_report
from program.ending import EndedBySignal
from program.trouble import Trouble
from tests.program.commands.test_ipc_evaluate import PaperFiles, answered, evaluate


@pytest.fixture
def bases() -> dict[Path | None, PaperFiles]:
    here, there = PaperFiles(Path("/here")), PaperFiles(Path("/there"))
    for number in range(6):
        here.here[f"plain-{number}"] = answered(f"plain-{number}", "a cat", submitter="ada")
        failed = number == 5
        here.here[f"long-{number}"] = answered(f"long-{number}", "the cat sat", submitter="bob", failed=failed)
        there.here[f"plain-{number}"] = answered(f"plain-{number}", "the cat sat on a mat")
    for files in (here, there):
        evaluate(files)
    here.put_away = {
        "2026-01-30": {"old": here.here["plain-0"], "plain-1": Papers()},
        "2026-01-31": {"old": here.here["plain-1"], "plain-9": there.here["plain-0"]},
    }
    return {None: here, Path("/there"): there}


def made(bases: dict[Path | None, PaperFiles], *words: str) -> str:
    parser = argparse.ArgumentParser()
    ipc_report.add_arguments(parser)
    out = io.StringIO()
    assert ipc_report.run(parser.parse_args(words), bases.__getitem__, now=0.0, out=out) == 0
    return out.getvalue()


def sizes(text: str) -> dict[str, int]:
    return {run["name"]: run["n"] + run["unfinished"] for run in json.loads(text)["runs"]}


def test_runs_are_chosen_by_pattern_submitter_day_and_folder(bases: dict[Path | None, PaperFiles]) -> None:
    runs = ["a=plain-*", "b=submitter:bob", "c=day:2026-01-31", "d=base:/there", "long-0"]
    text = made(bases, *[word for run in runs for word in ("--run", run)], "--format", "json")
    assert sizes(text) == {"a": 7, "b": 6, "c": 2, "d": 6, "long-0": 1}


def test_an_id_that_stands_in_several_places_is_counted_once(bases: dict[Path | None, PaperFiles]) -> None:
    text = made(bases, "--run", "a=plain-1", "--run", "b=*", "--format", "json")
    assert sizes(text) == {"a": 1, "b": 14}
    assert json.loads(text)["runs"][0]["succeeded"] == 1  # what is not archived counts


def test_without_runs_there_is_one_for_each_submitter(bases: dict[Path | None, PaperFiles]) -> None:
    del bases[None].put_away["2026-01-31"], bases[None].put_away["2026-01-30"]
    assert sizes(made(bases, "--format", "json")) == {"ada": 6, "bob": 6}


def test_the_table_says_how_far_the_runs_are_apart(bases: dict[Path | None, PaperFiles]) -> None:
    text = made(bases, "--run", "plain=plain-[0-5]", "--run", "longer=base:/there")
    lines = [line.split() for line in text.splitlines()]
    assert ["plain", "longer"] in lines
    assert ["requests", "6", "6"] in lines
    assert "longer against plain, 6 pairs by id" in text
    assert any(line[:1] == ["BLEU"] and line[-3:] == ["more", "than", "chance"] for line in lines)
    text = made(bases, "--run", "plain=plain-*", "--run", "long=long-*")
    assert "6 pairs by what the * of their patterns stands for" in text
    assert ["failed", "0", "1"] in [line.split() for line in text.splitlines()]


@pytest.mark.parametrize(
    ("name", "begins"), [("r.html", "<!DOCTYPE"), ("r.csv", "run,n,"), ("r.json", "{"), ("r", " ")]
)
def test_the_name_of_the_file_says_in_which_form_it_is_written(
    bases: dict[Path | None, PaperFiles], tmp_path: Path, name: str, begins: str
) -> None:
    target = tmp_path / name
    assert made(bases, "--output", str(target)) == ""
    assert target.read_text("utf-8").startswith(begins)


def test_the_same_seed_makes_the_same_report(bases: dict[Path | None, PaperFiles]) -> None:
    wanted = ("--run", "a=plain-*", "--run", "b=long-*", "--format", "csv")
    assert made(bases, *wanted, "--seed", "7") == made(bases, *wanted, "--seed", "7")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x=none-*"], "The run 'x' is empty: of the 14 requests in /here, such as long-0, long-1 and long-2, none"),
        (["x=day:2020-01-01"], "the archive has 2026-01-30 and 2026-01-31, and not '2020-01-01'"),
        (["=a"], "expected --run NAME=WHAT, not '=a'"),
        (["x="], "expected --run NAME=WHAT, not 'x='"),
        (["x=plain-*", "x=long-*"], "Two runs are called 'x'"),
        ([f"{number}=*" for number in range(13)], "A report compares 12 runs at most; 13 were asked for"),
    ],
)
def test_a_run_that_cannot_be_made_is_explained(
    bases: dict[Path | None, PaperFiles], words: list[str], said: str
) -> None:
    with pytest.raises(Trouble) as trouble:
        made(bases, *[word for each in words for word in ("--run", each)])
    assert said in str(trouble.value)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ([], "the archive has no days"),
        ([30], "the archive has 2026-01-30"),
        ([28, 29, 30, 31], "the archive has 2026-01-29, 2026-01-30 and 2026-01-31"),
    ],
)
def test_of_the_days_there_are_the_last_three_are_named(
    bases: dict[Path | None, PaperFiles], days: list[int], said: str
) -> None:
    bases[None].put_away = {f"2026-01-{day}": {"old": bases[None].here["plain-0"]} for day in days}
    with pytest.raises(Trouble, match=f"{said}, and not '2020-01-01'"):
        made(bases, "--run", "x=day:2020-01-01")


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), EndedBySignal(signal.SIGINT)])
@pytest.mark.parametrize("before", [None, "an older report"])
def test_a_report_is_there_as_a_whole_or_its_file_is_as_it_was(
    bases: dict[Path | None, PaperFiles],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    fault: BaseException,
    before: str | None,
) -> None:
    def fail(*_: object) -> None:
        raise fault

    target = tmp_path / "r.html"
    if before is not None:
        target.write_text(before)
    monkeypatch.setattr(os, step, fail)
    with pytest.raises((Trouble, EndedBySignal)):
        made(bases, "--output", str(target))
    assert [each.read_text() for each in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_report_takes_the_place_of_what_its_name_means(
    bases: dict[Path | None, PaperFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link stays one, the permissions stay, and a pipe, or a file in a folder that takes no names, is written to."""
    target, link, pipe = tmp_path / "r", tmp_path / "link", tmp_path / "pipe"
    target.touch()
    target.chmod(0o640)
    link.symlink_to("r")
    made(bases, "--output", str(link))
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    written = target.read_text()
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        made(bases, "--output", str(pipe))
        assert os.read(reading, 1 << 20).decode() == written
    finally:
        os.close(reading)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    target.write_text("")
    monkeypatch.setattr(os, "replace", refuse)
    made(bases, "--output", str(target))
    assert target.read_text() == written
    assert {each.name for each in tmp_path.iterdir()} == {"r", "link", "pipe"}


def test_a_file_that_cannot_be_written_is_named(bases: dict[Path | None, PaperFiles], tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="cannot be written: Is a directory"):
        made(bases, "--output", str(tmp_path))


def test_whoever_waits_for_a_large_report_sees_how_far_it_is(
    bases: dict[Path | None, PaperFiles], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "is_terminal", lambda _: True)
    bases[None].here = {f"plain-{number:03}": answered(f"plain-{number:03}", "a cat") for number in range(250)}
    bases[None].put_away = {}
    out, err = io.StringIO(), io.StringIO()
    parser = argparse.ArgumentParser()
    ipc_report.add_arguments(parser)
    assert ipc_report.run(parser.parse_args([]), bases.__getitem__, now=0.0, out=out, err=err) == 0
    seen = [line.rstrip() for line in err.getvalue().split("\r")]
    assert seen == ["", "100 requests read  plain-099", "200 requests read  plain-199", "\x1b[K"]
    assert "requests read" not in out.getvalue()


def test_an_empty_base_is_said() -> None:
    with pytest.raises(Trouble, match="There are no requests in /empty"):
        made({None: PaperFiles(Path("/empty"))})
