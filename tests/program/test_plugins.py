"""Objects that other packages add, from modules that are sound, broken, and worse."""

import logging
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from program.plugins import COMMANDS, Plugin, plugins

MODULES = {
    "sound_plugin": "async def work(params, context): return 1\n",
    "broken_plugin": "import no_such_module_anywhere\n",
    "leaving_plugin": "raise SystemExit('bye')\n",
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_what_can_be_loaded_is_and_the_rest_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    points = [
        EntryPoint(name, value, COMMANDS)
        for name, value in [
            ("broken", "broken_plugin:work"),
            ("leaving", "leaving_plugin:work"),
            ("missing", "sound_plugin:other"),
            ("work", "sound_plugin:work"),
            ("work", "sound_plugin:work"),
        ]
    ]
    with caplog.at_level(logging.WARNING, "troupe.plugins"):
        (found,) = plugins(COMMANDS, points)
    assert isinstance(found, Plugin)
    assert (found.name, callable(found.value)) == ("work", True)
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split()[0] for line in lines] == ["broken", "leaving", "missing", "work"]
    assert lines[0] == (
        "broken of troupe.ipc.commands cannot be loaded: ModuleNotFoundError: No module named 'no_such_module_anywhere'"
    )


def test_a_group_that_nobody_adds_to_is_empty() -> None:
    assert list(plugins("troupe.no.such.group")) == []
