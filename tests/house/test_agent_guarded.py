"""Who may not, cannot, at the agent's port, by HTTP and by WebSocket; and a store in trouble costs no turn what it has
been told."""

import json
import sqlite3
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import trio

from tests.house.agent_kit import Agent, agent_server, fake_model
from tests.house.running import DEADLINE, Server
from tests.house.test_accounts import said
from tests.house.test_agent import restarts, rising

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
NO_SESSION = "0123456789abcdef"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with fake_model("--rate", "200") as url:
        yield url


@pytest.fixture(scope="module")
def house(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with agent_server(tmp_path_factory.mktemp("house"), model) as house:
        yield house
        assert restarts(house) == {}
        assert house.stop() == 0
    assert "Traceback" not in house.said


@pytest.fixture(scope="module")
def token(house: Server) -> str:
    return (house.state / "agent.token").read_text().strip()


def status(house: Server, line: str, *headers: str, host: str | None = None) -> int:
    """What is answered to this request."""
    url = house.url_of("agent")
    lines = [f"{line} HTTP/1.1", f"Host: {host or urlsplit(url).netloc}", *headers, "", ""]
    return int(said(url, "\r\n".join(lines).encode()).split(b" ", 2)[1])


def stream_status(
    house: Server, *headers: str, session: str = NO_SESSION, query: str = "", host: str | None = None
) -> int:
    return status(
        house, f"GET /v1/sessions/{session}/stream{query}", *headers, *UPGRADE.strip().split("\r\n"), host=host
    )


@pytest.mark.parametrize(
    ("origin", "host", "expected"),
    [
        (None, None, (200, 101)),
        ("https://evil.example", None, (403, 403)),
        ("null", None, (403, 403)),
        ("http://localhost:4173", None, (403, 403)),
        ("http://127.0.0.1.evil.example", None, (403, 403)),
        ("chrome-extension://cjnmckjndlpiamhfimnnjmnckgghkjbl", None, (403, 403)),
        (None, "evil.example", (421, 421)),
        (None, "127.0.0.1.evil.example", (421, 421)),
        (None, "localhost@evil.example", (421, 421)),
        ("https://evil.example", "evil.example", (421, 421)),
    ],
)
def test_the_right_token_helps_no_foreign_page_and_no_foreign_name(
    house: Server, token: str, origin: str | None, host: str | None, expected: tuple[int, int]
) -> None:
    headers = [f"Authorization: Bearer {token}", *([f"Origin: {origin}"] if origin else [])]
    found = (status(house, "GET /v1/sessions", *headers, host=host), stream_status(house, *headers, host=host))
    assert all(one == other or {one, other} == {400, 421} for one, other in zip(found, expected, strict=True)), found


def test_however_a_wrong_token_is_presented_nobody_is_let_in_and_the_right_one_is_never_locked_out(
    house: Server, token: str
) -> None:
    right = f"Authorization: Bearer {token}"
    wrong = [
        (),
        ("Authorization: Bearer",),
        ("Authorization: Bearer ",),
        (f"Authorization: Bearer {token[:-1]}",),
        (f"Authorization: Bearer {token}x",),
        (f"Authorization: Bearer {token.swapcase()}",),
        (f"Authorization: Basic {token}",),
        (f"Authorization: {token}",),
        (right, right),
        (f"Authorization: Bearer {token}, Bearer {token}",),
        (f"X-Authorization: Bearer {token}",),
        (f"Cookie: token={token}",),
        ("Authorization: Bearer " + "x" * 4000,),
    ]
    for _ in range(3):
        for headers in wrong:
            assert status(house, "GET /v1/sessions", *headers) in (400, 401, 429), headers
            assert stream_status(house, *headers) in (400, 401, 429), headers
            assert status(house, "GET /v1/sessions", right) == 200
    for query in (f"?token={token}", f"?ticket={token}", "?ticket=", "?ticket=x"):
        assert stream_status(house, query=query) in (401, 429), query
        assert status(house, f"GET /v1/sessions{query}") in (401, 429), query
    for protocol in (f"troupe.bearer.{token}x, troupe.v1", f"{token}", "troupe.bearer., troupe.v1"):
        assert stream_status(house, f"Sec-WebSocket-Protocol: {protocol}") in (400, 401, 429), protocol
    assert status(house, "GET /v1/sessions") == 429, "it is not rate limited"
    assert status(house, "GET /v1/sessions", right) == 200
    assert stream_status(house, right) == 101
    assert stream_status(house, f"Sec-WebSocket-Protocol: troupe.bearer.{token}, troupe.v1") == 101


def test_a_ticket_opens_one_stream_once(house: Server, token: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    ticket = httpx.post(f"{house.url_of('agent')}/v1/tickets", headers=headers, timeout=DEADLINE).json()["ticket"]
    assert stream_status(house, query=f"?ticket={ticket}") == 101
    assert stream_status(house, query=f"?ticket={ticket}") in (401, 429)


def test_the_time_of_a_refusal_does_not_tell_how_much_of_the_token_was_right(house: Server, token: str) -> None:
    near, far = f"{token[:-1]}!", "!" * len(token)
    seconds: dict[str, list[float]] = {near: [], far: []}
    with httpx.Client(base_url=house.url_of("agent"), timeout=DEADLINE) as client:
        for _ in range(200):
            for guess, times in seconds.items():
                began = time.perf_counter()
                assert client.get("/v1/sessions", headers={"authorization": f"Bearer {guess}"}).status_code in (
                    401,
                    429,
                )
                times.append(time.perf_counter() - began)
    medians = [statistics.median(times) for times in seconds.values()]
    assert max(medians) < 2 * min(medians), medians


@pytest.mark.parametrize("id", [NO_SESSION, "x", "%00", "..etc", "x" * 200, "%F0%9F%99%82"])
async def test_unknown_ids_are_told_over_http_and_on_the_stream(house: Server, token: str, id: str) -> None:  # noqa: A002
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=f"{house.url_of('agent')}/v1", headers=headers, timeout=DEADLINE) as client:
        for path in (f"/sessions/{id}", f"/sessions/{id}/messages", f"/sessions/{id}/events", f"/sessions/{id}/export"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "SESSION_NOT_FOUND"), (path, answer.text)
        for path in (f"/workspaces/{id}", f"/workspaces/{id}/policy", f"/workspaces/{id}/index/status"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "WORKSPACE_NOT_FOUND"), (path, answer.text)
        made = await client.post("/sessions", json={"workspace_id": id})
        assert (made.status_code, made.json()["code"]) == (404, "WORKSPACE_NOT_FOUND"), made.text


async def test_the_stream_of_an_unknown_session_says_so_and_closes(house: Server) -> None:
    async with Agent(house).visitor.stream(NO_SESSION) as visit:
        await visit.send(b'{"type": "client.hello"}')
        with trio.fail_after(DEADLINE):
            told = json.loads(await visit.receive())
    assert (told["error"]["code"], told["error"]["recoverable"]) == ("SESSION_NOT_FOUND", False)


async def test_while_the_store_is_in_trouble_nothing_is_acknowledged_and_then_the_turn_goes_on(
    tmp_path: Path, model: str
) -> None:
    """Another program holds the database locked; a full disk is the same to the store, but would want a mount."""
    with agent_server(tmp_path, model) as house:
        agent = Agent(house)
        session = await agent.session(tmp_path / "work")
        async with agent.attach(session) as window:
            await window.say("client.user_message", message="!long 1500", message_id="first")
            for _ in range(20):
                await window.until_type("assistant.token")
            with closing(
                sqlite3.connect(house.state / "troupe.db", isolation_level=None, check_same_thread=False)
            ) as other:
                other.execute("BEGIN IMMEDIATE")
                troubled = await window.until(
                    lambda each: each["type"] == "session.state" and each["state"]["trouble"] is not None
                )
                assert "locked" in troubled["state"]["trouble"]
                await window.say("client.user_message", message="hello", message_id="second")
                error = await window.until_type("server.error")
                while "not taken" not in error["error"]["message"]:
                    error = await window.until_type("server.error")
                assert not any(each.get("message_id") == "second" for each in window.heard)
                answer = await trio.to_thread.run_sync(
                    lambda: httpx.get(f"{house.url_of('agent')}/v1/health", timeout=DEADLINE)
                )
                assert answer.status_code in (200, 503)
                other.execute("ROLLBACK")
            await window.until(lambda each: each["type"] == "session.state" and each["state"]["trouble"] is None)
            await window.say("client.user_message", message="hello", message_id="second")
            final = await window.until_type("assistant.message_final")
            assert final["metadata"]["success"] is True
            assert final["message"].endswith("word1499")
            assert (await window.until_type("assistant.message_final"))["message"] == "hello"
            assert rising(window.numbers)
        async with agent.attach(session) as whole:
            await whole.until(lambda each: each.get("seq") == window.last)
            told = [each["message_id"] for each in whole.heard if each["type"] == "user.message"]
            assert told == ["first", "second"]
            assert "".join(each["token"] for each in whole.heard if each["type"] == "assistant.token") == window.text
        assert restarts(house) == {}
        assert house.stop() == 0
