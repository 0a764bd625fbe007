"""Whole commands: the modules that they load, and their output."""

import subprocess
import sys
from pathlib import Path

import pytest

import supervisor
from codec.settings import Settings

ROOT = Path(__file__).parents[2]
LATER = {"markdown_it", "nh3", "prometheus_client"}
"""A server loads them when somebody asks for what they are needed for."""
HEAVY = {"quart", "hypercorn", "trio_websocket", "markdown_it", "prometheus_client", "trio", "structlog", "sqlite3"}


def test_the_commands_do_not_load_what_only_the_server_needs(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.touch()
    script = """if True:
        import sys, supervisor
        assert supervisor.main(["check", "--config", sys.argv[1]]) == 0
        print(*sys.modules, file=sys.stderr)
    """
    command = [sys.executable, "-c", script, str(config)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    loaded = set(done.stderr.split())
    assert "supervisor" in loaded
    assert not loaded & HEAVY


@pytest.mark.slow
def test_a_server_does_not_load_at_its_start_what_may_never_be_asked_for() -> None:
    script = """if True:
        import sys
        from systems import agent, console, ipc, judge, sidekick
        print(*sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "quart" in loaded
    assert not loaded & LATER


def test_what_can_be_set_is_of_systems_that_run() -> None:
    assert set(Settings.__struct_fields__) == supervisor.SYSTEMS.keys() - {"store"}


def test_a_backup_of_a_damaged_database_is_refused_in_a_sentence_about_the_backup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "troupe.db").write_bytes(b"no database " * 1000)
    target = tmp_path / "copy.db"
    assert supervisor.main(["backup", str(target), "--state-dir", str(tmp_path)]) == 1
    said = f"troupe: The backup could not be made, and {target} is as it was: file is not a database\n"
    assert capsys.readouterr().err == said
    assert not target.exists()
