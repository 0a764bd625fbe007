"""The folder of the desk, and the server's state, are looked for where the server itself has them."""

from pathlib import Path

import pytest

from program import places
from troupe.ipc import DeskError, whereabouts
from troupe.ipc.whereabouts import USUAL, VARIABLE, base_of


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize(
    "environ",
    [{}, {"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c", "LOCALAPPDATA": "/l", "APPDATA": "/a"},
     {"XDG_STATE_HOME": "here", "XDG_CONFIG_HOME": "here"}],
)  # fmt: skip
def test_the_usual_places_are_those_of_the_program(environ: dict[str, str], platform: str) -> None:
    assert whereabouts.state_dir(environ, platform) == places.state_dir(environ, platform)
    assert whereabouts.config_file(environ, platform) == places.config_file(environ, platform)


def test_the_argument_counts_more_than_the_variable_and_that_more_than_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[ipc]\nbase = "/configured"\n')
    environ = {VARIABLE: "/named"}
    assert base_of("/given", config, environ) == Path("/given")
    assert base_of(None, config, environ) == Path("/named")
    assert base_of(None, config, {}) == Path("/configured")
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert base_of(None, None, home) == USUAL
    (tmp_path / "troupe").mkdir()
    config.rename(tmp_path / "troupe" / "config.toml")
    assert base_of(None, None, home, "linux") == Path("/configured")


@pytest.mark.parametrize("content", ["ipc = 1", "[ipc]\nbase = 3", "[other]"])
def test_a_configuration_without_a_base_has_the_usual_one(tmp_path: Path, content: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(content)
    assert base_of(None, config, {}) == USUAL


def test_a_configuration_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    with pytest.raises(DeskError, match="no such file"):
        base_of(None, config, {})
    config.write_text("[ipc")
    with pytest.raises(DeskError, match="cannot be read"):
        base_of(None, config, {})
