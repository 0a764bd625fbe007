"""Nobody else writes to the state directory, and nothing in it leads elsewhere."""

import os
import stat
from pathlib import Path

import pytest

from actors.store.database import Database
from actors.store.directory import LOCK, OURS, StateDirectory
from actors.store.errors import StateUnusable
from actors.store.operations import Append
from program.ready import SERVER_FILE, ReadyFiles
from program.trouble import Trouble
from tests.accounts import CAN_BE_OTHERS, NOBODY


def refusal(path: Path) -> str:
    with pytest.raises(StateUnusable) as caught, StateDirectory.claim(path):
        raise AssertionError(f"{path} was claimed")
    sentence = str(caught.value)
    assert str(path) in sentence
    assert sentence.isprintable()
    assert sentence.endswith(".")
    return sentence


def used_and_lacking(state: Path, name: str) -> Path:
    """The place of a file in a state directory that has been used."""
    with StateDirectory.claim(state) as directory:
        database = Database(directory.database)
        database.execute([Append("a", [b"1"])])
        database.close()
    place = state / name
    place.unlink(missing_ok=True)
    return place


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("leads", ["to a file", "nowhere", "to a folder", "to itself"])
def test_a_link_in_the_place_of_a_file_is_refused_and_not_followed(tmp_path: Path, name: str, leads: str) -> None:
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    place = used_and_lacking(state, name)
    match leads:
        case "to a file":
            elsewhere.write_bytes(b"somebody's")
        case "to a folder":
            elsewhere.mkdir()
    place.symlink_to(place if leads == "to itself" else elsewhere)
    before = {each.name for each in state.iterdir()}
    assert f"{place} is a link" in refusal(state)
    assert {each.name for each in state.iterdir()} - {LOCK} == before - {LOCK}
    match leads:
        case "to a file":
            assert elsewhere.read_bytes() == b"somebody's"
        case "nowhere":
            assert not elsewhere.exists()


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a socket"])
def test_what_is_no_file_is_refused_in_the_place_of_one_and_nothing_waits_for_it(
    tmp_path: Path, name: str, kind: str
) -> None:
    place = used_and_lacking(tmp_path, name)
    match kind:
        case "a folder":
            place.mkdir()
        case "a pipe":
            os.mkfifo(place)
        case "a socket":
            os.mknod(place, stat.S_IFSOCK | 0o600)
    before = {each.name for each in tmp_path.iterdir()}
    sentence = refusal(tmp_path)
    assert sentence.startswith(f"{place} is a ")
    assert kind.removeprefix("a ") in sentence
    assert {each.name for each in tmp_path.iterdir()} == before


@pytest.mark.parametrize("leads", [True, False])
def test_a_link_in_the_place_of_the_servers_announcement_is_refused(tmp_path: Path, leads: bool) -> None:
    elsewhere = tmp_path / "elsewhere"
    if leads:
        elsewhere.write_bytes(b"")
    (tmp_path / SERVER_FILE).symlink_to(elsewhere)
    with pytest.raises(Trouble, match="there is a link already"):
        ReadyFiles([tmp_path / SERVER_FILE]).__enter__()
    assert (tmp_path / SERVER_FILE).is_symlink()


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o777, 0o1777, 0o2775])
def test_a_directory_that_others_can_write_to_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(mode)
    assert f"can be written to by other accounts (mode {mode:04o})" in refusal(state)
    assert f"chmod go-w {state}" in refusal(state)
    assert list(state.iterdir()) == []
    state.chmod(mode & 0o755)
    with StateDirectory.claim(state):
        pass


def test_a_directory_of_another_account_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if CAN_BE_OTHERS:
        os.chown(tmp_path, NOBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    assert "belongs to another account (uid " in refusal(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "refused"), [(0o777, True), (0o707, True), (0o1777, False), (0o775, False), (0o755, False)]
)
def test_a_directory_that_everybody_can_put_another_in_the_place_of_is_refused(
    tmp_path: Path, mode: int, refused: bool
) -> None:
    above = tmp_path / "above"
    state = above / "deep" / "state"
    state.mkdir(parents=True, mode=0o700)
    above.chmod(mode)
    if refused:
        assert f"can be replaced by every account, for {above} is everybody's (mode {mode:04o})" in refusal(state)
        above.chmod(0o700)
    with StateDirectory.claim(state):
        pass


def test_the_directory_itself_may_be_reached_by_a_link_and_is_judged_where_it_is(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir(mode=0o700)
    link.symlink_to(real)
    with StateDirectory.claim(link):
        pass
    real.chmod(0o777)
    with pytest.raises(StateUnusable, match="can be written to by other accounts"), StateDirectory.claim(link):
        pass
