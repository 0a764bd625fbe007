"""The agent's port over real sockets: who comes in, what is passed on, and how refusals read. The desk is on paper."""

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
import trio
from trio_websocket import ConnectionClosed, ConnectionRejected

from actors.kernel import NobodyThere
from codec.agent.endpoints import ENDPOINTS
from codec.agent.refusing import ContractRefusal, no_session
from tests.patience import PATIENCE
from tests.transports.house import House, open_house
from transports.agent.gate import Gate
from transports.agent.port import AgentDesk, IndexDesk, agent_application, agent_websocket
from transports.websocket.websocket import WebSocket

TOKEN = "k" * 43
STREAM = "/v1/sessions/s1/stream"
AUTHORIZED = {"authorization": f"Bearer {TOKEN}"}


@dataclass
class PaperDesk:
    """Answers each question with its name and what it was asked."""

    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    trouble: Exception | None = None

    def __getattr__(self, name: str) -> Callable[..., Awaitable[bytes]]:
        async def answer(*given: Any) -> bytes:
            self.asked.append((name, given))
            if self.trouble is not None:
                raise self.trouble
            return json.dumps({"asked": name}).encode()

        return answer

    @property
    def index(self) -> "PaperIndexDesk":
        return PaperIndexDesk(self)

    async def export(self, id: str) -> AsyncIterator[bytes]:  # noqa: A002
        async def lines() -> AsyncIterator[bytes]:
            for number in range(3):
                yield f"{id} {number}\n".encode()

        return lines()

    @asynccontextmanager
    async def attach(self, id: str, wire: WebSocket) -> AsyncIterator["PaperSeat"]:  # noqa: A002
        self.asked.append(("attach", (id,)))
        if self.trouble is not None:
            raise self.trouble
        yield PaperSeat(wire)


@dataclass
class PaperIndexDesk:
    desk: PaperDesk

    def __getattr__(self, name: str) -> Callable[..., Awaitable[bytes]]:
        async def answer(*given: Any, **named: Any) -> bytes:
            self.desk.asked.append((f"index.{name}", (*given, *named.values())))
            if self.desk.trouble is not None:
                raise self.desk.trouble
            return json.dumps({"asked": f"index.{name}"}).encode()

        return answer

    async def follow(self, id: str, *, on: bool) -> AsyncIterator[bytes]:  # noqa: A002
        async def events() -> AsyncIterator[bytes]:
            for number in range(2):
                yield f"data: {id} {on} {number}\n\n".encode()

        return events()


@dataclass
class PaperSeat:
    wire: WebSocket

    async def heard(self, text: str | bytes) -> None:
        await self.wire.send(f"heard {text!r}")


@asynccontextmanager
async def open_port(desk: PaperDesk) -> AsyncIterator[House]:
    gate = Gate(TOKEN, trio.current_time)
    app = agent_application(desk, gate, resources.files("web"), b'{"openapi": "3.1.0"}')  # type: ignore[arg-type]
    async with open_house(app=app, on_websocket=agent_websocket(desk, gate)) as house:  # type: ignore[arg-type]
        yield house


async def ask(house: House, method: str, path: str, **options: Any) -> httpx.Response:
    with trio.fail_after(PATIENCE):
        async with httpx.AsyncClient() as client:
            return await client.request(method, f"{house.url}{path}", **options)


ROUTES = [
    ("GET", "/v1/workspaces", "workspaces", ()),
    ("POST", "/v1/workspaces/register", "register", (b"body",)),
    ("GET", "/v1/workspaces/w1", "workspace", ("w1",)),
    ("GET", "/v1/workspaces/w1/policy", "policy", ("w1",)),
    ("PUT", "/v1/workspaces/w1/policy", "change_policy", ("w1", b"body", "python-httpx")),
    ("GET", "/v1/workspaces/w1/approvals", "workspace_approvals", ("w1",)),
    ("DELETE", "/v1/workspaces/w1/approvals/a1", "forget_workspace_approval", ("w1", "a1", "python-httpx")),
    ("POST", "/v1/workspaces/w1/index/rebuild", "index.reindex", ("w1", True)),
    ("POST", "/v1/workspaces/w1/index/refresh", "index.reindex", ("w1", False)),
    ("POST", "/v1/workspaces/w1/index/incremental", "index.changed", ("w1", b"body")),
    ("GET", "/v1/workspaces/w1/index/status", "index.status", ("w1",)),
    ("POST", "/v1/workspaces/w1/index", "index.run", ("w1",)),
    ("POST", "/v1/workspaces/w1/watch/start", "index.watch", ("w1", True)),
    ("POST", "/v1/workspaces/w1/watch/stop", "index.watch", ("w1", False)),
    ("GET", "/v1/workspaces/w1/search?q=a+b", "index.search", ("w1", "a b", "all", 20)),
    ("GET", "/v1/workspaces/w1/search?q=a&kind=symbols&most=3", "index.search", ("w1", "a", "symbols", 3)),
    ("POST", "/v1/sessions", "create_session", (b"body",)),
    ("GET", "/v1/sessions", "sessions", (None,)),
    ("GET", "/v1/sessions?workspace_id=w1", "sessions", ("w1",)),
    ("GET", "/v1/sessions/s1", "session", ("s1",)),
    ("PATCH", "/v1/sessions/s1", "change_session", ("s1", b"body")),
    ("DELETE", "/v1/sessions/s1", "delete_session", ("s1",)),
    ("GET", "/v1/sessions/s1/approvals", "session_approvals", ("s1",)),
    ("DELETE", "/v1/sessions/s1/approvals/a1", "forget_session_approval", ("s1", "a1", "python-httpx")),
    ("POST", "/v1/sessions/s1/undo", "undo", ("s1", b"body", "python-httpx")),
    ("POST", "/v1/sessions/s1/redo", "redo", ("s1", b"body", "python-httpx")),
    ("GET", "/v1/sessions/s1/messages", "messages", ("s1",)),
    ("GET", "/v1/sessions/s1/events?after=7&limit=3", "events", ("s1", 7, 3)),
    ("GET", "/v1/models", "models", ()),
    ("GET", "/v1/models/current", "model", ()),
    ("PUT", "/v1/models/current", "change_model", (b"body",)),
    ("POST", "/v1/models/switch", "switch_model", (b"body",)),
]


@pytest.mark.parametrize(("method", "path", "name", "given"), ROUTES)
async def test_every_endpoint_of_the_contract_is_passed_on_to_whoever_has_the_token(
    method: str, path: str, name: str, given: tuple[Any, ...]
) -> None:
    desk = PaperDesk()
    async with open_port(desk) as house:
        body = b"body" if b"body" in given else None
        answer = await ask(house, method, path, content=body, headers=AUTHORIZED)
        assert answer.json() == {"asked": name}
        assert answer.status_code == (202 if method == "POST" and "/index/" in path else 200)
        assert desk.asked == [(name, given)]
        for headers in ({}, {"authorization": "Bearer wrong"}):
            denied = await ask(house, method, path, content=body, headers=headers)
            assert denied.status_code in (401, 429)
            assert denied.json()["code"] == "UNAUTHORIZED"
        assert len(desk.asked) == 1


def test_no_question_of_the_desk_is_without_an_endpoint() -> None:
    asked = {name for _, _, name, _ in ROUTES} | {"health", "attach", "export", "index.follow"}
    desk = {name for name, _ in inspect.getmembers(AgentDesk, inspect.isfunction)}
    index = {f"index.{name}" for name, _ in inspect.getmembers(IndexDesk, inspect.isfunction)}
    assert asked == {name for name in desk | index if not name.startswith(("_", "index._"))}


async def test_each_state_of_the_index_is_an_event_for_whoever_follows_it() -> None:
    async with open_port(PaperDesk()) as house:
        for query, on in (("", False), ("?follow=0", False), ("?follow=1", True)):
            answer = await ask(house, "GET", f"/v1/workspaces/w1/index/stream{query}", headers=AUTHORIZED)
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.text == f"data: w1 {on} 0\n\ndata: w1 {on} 1\n\n"
        assert (await ask(house, "GET", "/v1/workspaces/w1/index/stream")).status_code == 401


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("kind=odd&q=a", "`kind` is "),
        ("most=0&q=a", "`most` is a whole number from 1 to 100."),
        ("most=101&q=a", "`most` is a whole number from 1 to 100."),
        ("most=x&q=a", "`most` is a whole number"),
        (f"q={'a' * 2_001}", "`q` has 2000 characters at most."),
    ],
)
async def test_a_search_that_cannot_be_asked_is_refused_in_words(query: str, says: str) -> None:
    desk = PaperDesk()
    async with open_port(desk) as house:
        answer = await ask(house, "GET", f"/v1/workspaces/w1/search?{query}", headers=AUTHORIZED)
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_MESSAGE")
        assert says in answer.json()["detail"]
        assert desk.asked == []


async def test_a_session_is_exported_line_by_line() -> None:
    async with open_port(PaperDesk()) as house:
        answer = await ask(house, "GET", "/v1/sessions/s1/export", headers=AUTHORIZED)
        assert answer.text == "s1 0\ns1 1\ns1 2\n"
        assert (await ask(house, "GET", "/v1/sessions/s1/export")).status_code == 401


async def test_health_and_the_page_alone_need_no_token() -> None:
    async with open_port(PaperDesk()) as house:
        assert (await ask(house, "GET", "/v1/health")).json() == {"asked": "health"}
        assert (await ask(house, "POST", "/v1/health")).status_code == 401
        assert (await ask(house, "GET", "/web/house/house.css")).status_code == 200
        for path in ("/v1/openapi.json", "/v1/nothing", "/v1/", "/v1//workspaces"):
            assert (await ask(house, "GET", path)).status_code == 401, path
        assert (await ask(house, "GET", "/v1/openapi.json", headers=AUTHORIZED)).json() == {"openapi": "3.1.0"}


@pytest.mark.parametrize(
    ("trouble", "status", "body"),
    [
        (no_session(), 404, {"detail": str(no_session()), "code": "SESSION_NOT_FOUND", "where": None}),
        (
            ContractRefusal(422, "INVALID_MESSAGE", "Odd.", "$.path"),
            422,
            {"detail": "Odd.", "code": "INVALID_MESSAGE", "where": "$.path"},
        ),
        (NobodyThere("agent/sessions"), 503, None),
    ],
)
async def test_refusals_are_told_in_json(trouble: Exception, status: int, body: dict[str, Any] | None) -> None:
    async with open_port(PaperDesk(trouble=trouble)) as house:
        answer = await ask(house, "GET", "/v1/sessions/s1", headers=AUTHORIZED)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
        assert answer.json()["detail"]
        if body is not None:
            assert answer.json() == body


async def test_what_is_no_endpoint_and_what_is_no_number_is_told_in_json() -> None:
    async with open_port(PaperDesk()) as house:
        for method, path, status in [
            ("GET", "/v1/nothing", 404),
            ("DELETE", "/v1/models", 405),
            ("GET", "/v1/sessions/s1/events?after=-1", 422),
            ("GET", "/v1/sessions/s1/events?after=" + "9" * 5000, 422),
            ("GET", "/v1/sessions/s1/events?limit=%C2%B2", 422),
        ]:
            answer = await ask(house, method, path, headers=AUTHORIZED)
            assert (answer.status_code, bool(answer.json()["detail"])) == (status, True)


async def test_whoever_asks_for_what_is_no_part_of_the_contract_is_a_person_and_told_in_plain_text() -> None:
    async with open_port(PaperDesk()) as house:
        for path in ("/nothing", "/v2/models", "/v1"):
            answer = await ask(house, "GET", path)
            assert (answer.status_code, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")
            assert answer.text


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PATHS = sorted({endpoint.path for endpoint in ENDPOINTS})


@pytest.mark.parametrize("path", PATHS)
async def test_a_method_that_a_path_does_not_take_is_answered_with_exactly_those_that_it_takes(path: str) -> None:
    taken = {endpoint.method.upper() for endpoint in ENDPOINTS if endpoint.path == path}
    if path.endswith("/register"):
        taken.add("GET")  # of a workspace with this id, which there never is
    taken |= {"HEAD"} if "GET" in taken else set()
    async with open_port(PaperDesk()) as house:
        for method in METHODS:
            found = path.format(workspace_id="w", session_id="s", approval_id="a")
            answer = await ask(house, method, found, headers=AUTHORIZED)
            if method in taken:
                assert answer.status_code < 400, method
                continue
            assert answer.status_code == 405
            assert set(answer.headers["allow"].split(", ")) == taken
            if method != "HEAD":
                assert all(each in answer.json()["detail"] for each in taken)


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    ["/v1/nothing", "/v1/", "/v1/workspaces/w/policy/x", "/v1//models", "/v1/sessions//events", "/v1/models/"],
)
async def test_what_the_contract_does_not_have_is_not_there_by_any_method(method: str, path: str) -> None:
    async with open_port(PaperDesk()) as house:
        answer = await ask(house, method, path, headers=AUTHORIZED)
        known = path == "/v1/models/"  # the slash at its end is none of ours
        assert answer.status_code == ((200 if method == "GET" else 405) if known else 404)


@pytest.mark.parametrize("id", ["a%2Fb", "%2f", "%2Fetc%2Fpasswd", "..%2F..%2Fmodels", "a%252Fb"])
@pytest.mark.parametrize("path", ["/v1/sessions/{}", "/v1/sessions/{}/events", "/v1/workspaces/{}/policy"])
async def test_an_id_with_a_slash_is_an_unknown_one_and_no_other_path(path: str, id: str) -> None:  # noqa: A002
    desk = PaperDesk(trouble=no_session())
    async with open_port(desk) as house:
        answer = await ask(house, "GET", path.format(id), headers=AUTHORIZED)
        assert (answer.status_code, answer.json()["code"]) == (404, "SESSION_NOT_FOUND")
        ((_, (asked, *_)),) = desk.asked
        assert unquote(asked) == unquote(unquote(id)) or asked == unquote(id)
        assert "/" not in asked


async def test_a_status_has_its_reason_phrase() -> None:
    async with open_port(PaperDesk()) as house:
        for method, path, headers, phrase in [
            ("GET", "/v1/health", {}, "OK"),
            ("GET", "/v1/models", {}, "Unauthorized"),
            ("POST", "/v1/tickets", AUTHORIZED, "Created"),
            ("GET", "/v1/nothing", AUTHORIZED, "Not Found"),
            ("DELETE", "/v1/models", AUTHORIZED, "Method Not Allowed"),
        ]:
            assert (await ask(house, method, path, headers=headers)).reason_phrase == phrase
        said = await house.exchange(b"GET / HTTP/1.1\r\nHost: \x00\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 400 Bad Request\r\n")


async def test_whoever_is_not_let_in_is_told_a_command_and_no_place() -> None:
    async with open_port(PaperDesk()) as house:
        for headers in ({}, {"authorization": "Bearer no"}):
            sentence = (await ask(house, "GET", "/v1/models", headers=headers)).json()["detail"]
            assert "`troupe sessions --link`" in sentence
            assert "/" not in sentence


@pytest.mark.parametrize("way", ["header", "protocol", "ticket"])
async def test_a_stream_is_opened_with_a_token_or_a_ticket(way: str) -> None:
    async with open_port(PaperDesk()) as house:
        path, headers, protocols = STREAM, dict[str, str](), tuple[str, ...]()
        if way == "header":
            headers = AUTHORIZED
        elif way == "protocol":
            protocols = ("loco.v1", f"loco.bearer.{TOKEN}")
        else:
            made = await ask(house, "POST", "/v1/tickets", headers=AUTHORIZED)
            assert made.status_code == 201
            path += f"?ticket={made.json()['ticket']}"
        async with house.websocket(path, headers=headers, protocols=protocols) as socket:
            await socket.send_message("hello")
            assert await socket.get_message() == "heard 'hello'"
            assert socket.subprotocol == ("loco.v1" if way == "protocol" else None)
        if way == "ticket":
            with pytest.raises(BaseExceptionGroup) as caught:
                async with house.websocket(path):
                    pass
            assert caught.group_contains(ConnectionRejected)


@pytest.mark.parametrize(
    ("headers", "protocols", "query"),
    [
        ({}, (), ""),
        ({"authorization": "Bearer no"}, (), ""),
        ({}, ("loco.v1", "loco.bearer.no"), ""),
        ({}, (), "?ticket=no"),
    ],
)
async def test_nobody_else_gets_a_stream(headers: dict[str, str], protocols: tuple[str, ...], query: str) -> None:
    desk = PaperDesk()
    async with open_port(desk) as house:
        with pytest.raises(BaseExceptionGroup) as caught:
            async with house.websocket(f"{STREAM}{query}", headers=headers, protocols=protocols):
                pass
        assert caught.group_contains(ConnectionRejected, match="401")
        assert desk.asked == []


async def test_the_stream_of_no_session_says_so_and_ends() -> None:
    desk = PaperDesk(trouble=no_session())
    async with open_port(desk) as house, house.websocket(STREAM, headers=AUTHORIZED) as socket:
        said = json.loads(await socket.get_message())
        assert (said["type"], said["error"]["code"]) == ("server.error", "SESSION_NOT_FOUND")
        with pytest.raises(ConnectionClosed):
            await socket.get_message()
        assert socket.closed is not None
        assert socket.closed.code == 4404
