"""The agent's port with TLS, as its users and its attackers find it."""

import os
import select
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.house.agent_kit import Agent, agent_server, fake_model
from tests.house.agent_page import begin, link, say, visiting
from tests.house.running import DEADLINE, Server, server, troupe
from tests.house.test_agent import restarts
from transports.agent.certificates import AUTHORITY_KEY, SERVER
from transports.agent.private import AUTHORITY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HALF_A_HELLO = bytes.fromhex("160301020001")
"""A TLS client that says nothing more."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "0") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with agent_server(tmp_path_factory.mktemp("house"), model, "--set", "agent.tls=true") as house:
        yield house
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


def port_of(house: Server) -> int:
    return urlsplit(house.url_of("agent")).port or 0


def trusting(house: Server) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(house.state / AUTHORITY))


def healthy(house: Server, context: ssl.SSLContext, *, host: str = "127.0.0.1", name: str = "localhost") -> str | None:
    """Asks for its health. The version of TLS."""
    with (
        socket.create_connection((host, port_of(house)), timeout=DEADLINE) as plain,
        context.wrap_socket(plain, server_hostname=name) as stream,
    ):
        stream.sendall(f"GET /v1/health HTTP/1.1\r\nHost: localhost:{port_of(house)}\r\n\r\n".encode())
        assert stream.recv(4096).startswith(b"HTTP/1.1 200 ")
        return stream.version()


@pytest.mark.parametrize(("host", "name"), [("127.0.0.1", "localhost"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1")])
def test_who_trusts_the_authority_is_served_under_each_name_of_this_machine(
    house: Server, host: str, name: str
) -> None:
    assert healthy(house, trusting(house), host=host, name=name) == "TLSv1.3"


def test_who_does_not_trust_it_or_wants_another_name_is_warned(house: Server) -> None:
    for context, name in ((ssl.create_default_context(), "localhost"), (trusting(house), "evil.example")):
        with pytest.raises(ssl.SSLCertVerificationError):
            healthy(house, context, name=name)


def test_only_tls_of_today_is_spoken(house: Server) -> None:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = trusting(house)
        context.minimum_version = context.maximum_version = version
        assert healthy(house, context) == version.name.replace("_", ".")
    old = trusting(house)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        healthy(house, old)


def test_who_begins_200_handshakes_and_ends_none_keeps_nobody_from_one(house: Server) -> None:
    with ExitStack() as stack:
        for _ in range(200):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", port_of(house)), timeout=DEADLINE))
            half.sendall(HALF_A_HELLO)
        assert healthy(house, trusting(house))
        assert select.select([half], [], [], 0)[0] == [], "the server has not waited until they were let go"
        assert half.recv(1) == b"", "it is let go after a while"


def test_plain_http_is_answered_with_what_to_do_instead(house: Server) -> None:
    with socket.create_connection(("127.0.0.1", port_of(house)), timeout=DEADLINE) as plain:
        plain.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"This port speaks HTTPS. Write https:// in place of http://." in plain.recv(4096)


def test_tls_at_a_plain_port_ends_that_connection_only(house: Server) -> None:
    plain = urlsplit(house.url)
    with pytest.raises(ssl.SSLError), socket.create_connection(("127.0.0.1", plain.port or 0), DEADLINE) as connection:
        trusting(house).wrap_socket(connection, server_hostname="localhost")
    assert house.get("/").status_code == 200


async def test_a_session_streams_over_tls_and_the_commands_find_their_way(house: Server, tmp_path: Path) -> None:
    agent = Agent(house)
    session = await agent.session(tmp_path / "work")
    async with agent.attach(session) as window:
        assert (await window.turn("over tls"))["message"] == "over tls"
    listed = troupe(tmp_path, "sessions", "--state-dir", str(house.state))
    assert listed.returncode == 0, listed.stderr
    assert "over tls" in listed.stdout


@pytest.mark.browser
def test_the_page_works_over_tls(house: Server, chromium: Browser, tmp_path: Path) -> None:
    with visiting(chromium, ignore_https_errors=True) as visitor:
        page = visitor.page(link(house))
        begin(page, tmp_path / "work")
        say(page, "is this private?")
        transcript = page.get_by_role("log", name="Transcript")
        expect(transcript).to_contain_text("Done")
        expect(transcript.get_by_text("is this private?", exact=True)).to_have_count(2)


def test_keys_are_private_and_the_authority_stays_also_when_its_folder_moves(tmp_path: Path) -> None:
    with server(tmp_path / "first", "--set", "agent.tls=true") as house:
        house.ready()
        modes = {name: (house.state / name).stat().st_mode & 0o777 for name in (AUTHORITY_KEY, SERVER, AUTHORITY)}
        assert modes == {AUTHORITY_KEY: 0o600, SERVER: 0o600, AUTHORITY: 0o644}
        authority, certificate = (house.state / AUTHORITY).read_bytes(), (house.state / SERVER).read_bytes()
        trusts = trusting(house)
        assert house.stop() == 0
        assert AUTHORITY_KEY not in house.said
        assert "PRIVATE KEY" not in house.said
    moved = tmp_path / "second" / "state"
    moved.parent.mkdir()
    os.rename(house.state, moved)
    with server(tmp_path / "second", "--set", "agent.tls=true") as house:
        house.ready()
        assert ((moved / AUTHORITY).read_bytes(), (moved / SERVER).read_bytes()) == (authority, certificate)
        assert healthy(house, trusts)
        assert house.stop() == 0
