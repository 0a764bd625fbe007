"""The token is this account's alone, and stays the same for as long as it is."""

import os
import stat
from pathlib import Path

import pytest
import trio
import trustme

from transports.agent.client import AgentVisitor
from transports.agent.private import AUTHORITY
from transports.agent.secret import TOKEN_FILE, TokenUnusable, agent_token
from transports.websocket.client import Unreachable


def test_a_token_is_made_once_and_only_this_account_can_read_it(tmp_path: Path) -> None:
    first = agent_token(tmp_path)
    assert first.new
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600
    again = agent_token(tmp_path)
    assert (again.text, again.new) == (first.text, False)
    assert first.text not in repr(first)
    assert [path.name for path in tmp_path.iterdir()] == [TOKEN_FILE]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_token_that_others_could_read_is_replaced(tmp_path: Path, mode: int) -> None:
    old = agent_token(tmp_path)
    (tmp_path / TOKEN_FILE).chmod(mode)
    new = agent_token(tmp_path)
    assert new.new
    assert new.text != old.text
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600


def test_what_is_no_file_of_a_token_is_refused_in_words_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / TOKEN_FILE
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("x" * 43)
    elsewhere.chmod(0o600)
    path.symlink_to(elsewhere)
    with pytest.raises(TokenUnusable, match="it is a link"):
        agent_token(tmp_path)
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(TokenUnusable, match="not a file of this account"):
        agent_token(tmp_path)
    path.unlink()
    path.write_text("no token\n")
    path.chmod(0o600)
    with pytest.raises(TokenUnusable, match="holds no token"):
        agent_token(tmp_path)
    assert path.read_text() == "no token\n"


@pytest.mark.parametrize("size", [32, 43, 128])
def test_a_token_of_the_user_s_own_is_taken_as_it_is(tmp_path: Path, size: int) -> None:
    write(tmp_path / TOKEN_FILE, b" \n" + b"aZ0_-" * 30 + b"\n", size + 2)
    token = agent_token(tmp_path)
    assert (token.text, token.new) == (("aZ0_-" * 30)[:size], False)


@pytest.mark.parametrize(
    "kept", [b"", b"x" * 31, b"x" * 129, b"x" * 40 + b"\xff", "ä".encode() * 40, b"x" * 20 + b" " * 20 + b"x"]
)
def test_what_is_no_token_is_refused_in_words_and_left_alone(tmp_path: Path, kept: bytes) -> None:
    write(tmp_path / TOKEN_FILE, kept)
    with pytest.raises(TokenUnusable, match="holds no token"):
        agent_token(tmp_path)
    assert (tmp_path / TOKEN_FILE).read_bytes() == kept


def write(path: Path, data: bytes, size: int | None = None) -> None:
    path.write_bytes(data[:size])
    path.chmod(0o600)


def test_a_command_of_this_account_finds_the_token_where_the_server_has_left_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        AgentVisitor.of("http://127.0.0.1:1/", tmp_path)
    token = agent_token(tmp_path)
    visitor = AgentVisitor.of("http://127.0.0.1:1/", tmp_path)
    with pytest.raises(Unreachable, match=r"no agent answers at http://127.0.0.1:1 \(ConnectError\)"):
        trio.run(visitor.ask, "GET", "health")
    assert visitor._headers["authorization"] == f"Bearer {token.text}"
    assert visitor._tls is None


def test_a_command_trusts_the_authority_that_the_server_has_left(tmp_path: Path) -> None:
    agent_token(tmp_path)
    trustme.CA().cert_pem.write_to_path(str(tmp_path / AUTHORITY))
    known = AgentVisitor.of("https://127.0.0.1:1", tmp_path)._tls
    assert known is not None
    assert known.cert_store_stats()["x509_ca"] == 1
