"""A signal at any moment ends the program without a word."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import actors.store
import supervisor
from program.ending import EndedBySignal, code, settle, tidily

ROOT = Path(__file__).parents[2]
DEADLINE = 60.0
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", SIGNALS)
def test_what_must_be_tidied_up_is_ended_by_an_exception_and_only_that(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    with pytest.raises(EndedBySignal) as interrupted, tidily():
        signal.raise_signal(number)
    assert interrupted.value.code == code(number) == 128 + number
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with tidily():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_is_left_to_the_system_unless_it_is_ignored() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        for was, becomes in ((signal.default_int_handler, signal.SIG_DFL), (signal.SIG_IGN, signal.SIG_IGN)):
            signal.signal(signal.SIGINT, was)
            settle()
            assert signal.getsignal(signal.SIGINT) is becomes
    finally:
        signal.signal(signal.SIGINT, before)


HALTS = """
import runpy, sys, time

class Halt:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            print("here", flush=True)
            time.sleep(600)

moment = sys.argv.pop(1)
sys.meta_path.insert(0, Halt())
runpy.run_path("supervisor.py", run_name="__main__")
"""
"""The program, which waits for a signal when it is about to load a certain module."""


@pytest.mark.drawn(9)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "moment"),
    [
        *(("serve", each) for each in ("argparse", "msgspec", "trio", "actors.store", "structlog", "quart")),
        *(("check", each) for each in ("program.arguments", "codec.settings")),
        *(("tree", each) for each in ("http.client", "program.drawing")),
        *(("judge run", each) for each in ("trio", "systems.judge")),
        *(("record x -", each) for each in ("trio_websocket",)),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_something_is_loaded_ends_it_without_a_word(
    arguments: str, moment: str, number: signal.Signals, tmp_path: Path
) -> None:
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", HALTS, moment, *arguments.split()]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "here\n"
        program.send_signal(number)
        assert (*program.communicate(timeout=DEADLINE), program.returncode) == ("", "", -number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_backup_that_is_interrupted_leaves_nothing_behind(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(_: Path, draft: Path) -> None:
        draft.write_bytes(b"half")
        signal.raise_signal(number)

    monkeypatch.setattr(actors.store, "copy_database", copy)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "troupe.db").touch()
    backup = ["backup", str(tmp_path / "copy.db"), "--state-dir", str(tmp_path / "state")]
    assert supervisor.main(backup) == code(number)
    assert [each.name for each in tmp_path.iterdir()] == ["state"]
