from pathlib import Path

import pytest

from codec.settings import Settings, parse
from program.config import described, load
from program.trouble import Trouble


def trouble(path: Path) -> str:
    with pytest.raises(Trouble) as caught:
        load(path, default=path / "none")
    assert caught.value.code == 2
    return str(caught.value)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load(None, default=tmp_path / "config.toml") == Settings()


def test_the_customary_file_is_read_when_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[console]\nport = 1")
    assert load(None, default=path).console.port == 1
    assert load(None, ["console.port=2"], default=path).console.port == 2


def test_a_named_file_stands_in_for_the_customary_one(tmp_path: Path) -> None:
    (tmp_path / "customary").write_text("[console]\nport = 1")
    (tmp_path / "named").write_text("")
    assert load(tmp_path / "named", default=tmp_path / "customary") == Settings()


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    assert "there is no such file" in trouble(tmp_path / "c.toml")


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    assert "Is a directory" in trouble(tmp_path)


def test_a_byte_order_mark_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"\xef\xbb\xbf[console]\r\nport = 1\r\n")
    assert load(tmp_path / "c.toml", default=tmp_path).console.port == 1


def test_what_is_not_utf_8_is_named_by_line(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"[console]\nhost = '\xff'\n")
    assert trouble(tmp_path / "c.toml").startswith(f"{tmp_path}/c.toml:2: not text in UTF-8")


def test_every_problem_of_a_file_is_a_line_that_begins_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[console]\nport = 'x'\nhots = 1")
    assert [line.split(": ")[0] for line in trouble(path).splitlines()] == [f"{path}:2", f"{path}:3"]


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert "expected at most 65,536" in trouble(path)


def test_settings_are_described_one_system_a_line() -> None:
    settings = parse("", source="", overrides=["console.host=::1", "sidekick.port=0", "judge.enabled=false"])
    assert described(settings).splitlines() == [
        "console   [::1]:5160",
        "sidekick  127.0.0.1:any free port and [::1]:any free port",
        "judge     off",
        "ipc       off",
        "agent     127.0.0.1:3199 and [::1]:3199",
    ]


def test_the_desk_is_described_with_its_base() -> None:
    settings = parse("", source="", overrides=["ipc.base=/srv/desk", "ipc.host=::1"])
    assert described(settings).splitlines()[-2] == "ipc       [::1]:5164, in /srv/desk"
