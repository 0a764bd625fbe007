"""The agent's port over real sockets: who comes in, what is passed on, and how refusals read. The desk is on paper."""

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import httpx
import pytest
import trio
from trio_websocket import ConnectionClosed, ConnectionRejected

from actors.kernel import NobodyThere
from codec.agent.refusing import ContractRefusal, no_session
from tests.transports.house import PATIENCE, House, open_house
from transports.agent.gate import Gate
from transports.agent.port import AgentDesk, agent_application, agent_websocket
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
class PaperSeat:
    wire: WebSocket

    async def heard(self, text: str | bytes) -> None:
        await self.wire.send(f"heard {text!r}")


@asynccontextmanager
async def open_port(desk: PaperDesk) -> AsyncIterator[House]:
    gate = Gate(TOKEN, trio.current_time, where="a file")
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
    ("PUT", "/v1/workspaces/w1/policy", "change_policy", ("w1", b"body", "127.0.0.1")),
    ("POST", "/v1/workspaces/w1/index/rebuild", "index_status", ("w1",)),
    ("POST", "/v1/workspaces/w1/index/refresh", "index_status", ("w1",)),
    ("POST", "/v1/workspaces/w1/index/incremental", "index_changed", ("w1", b"body")),
    ("GET", "/v1/workspaces/w1/index/status", "index_status", ("w1",)),
    ("POST", "/v1/sessions", "create_session", (b"body",)),
    ("GET", "/v1/sessions", "sessions", (None,)),
    ("GET", "/v1/sessions?workspace_id=w1", "sessions", ("w1",)),
    ("GET", "/v1/sessions/s1", "session", ("s1",)),
    ("PATCH", "/v1/sessions/s1", "change_session", ("s1", b"body")),
    ("DELETE", "/v1/sessions/s1", "delete_session", ("s1",)),
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
    asked = {name for _, _, name, _ in ROUTES} | {"health", "attach", "export"}
    assert asked == {name for name, _ in inspect.getmembers(AgentDesk, inspect.isfunction) if not name.startswith("_")}


async def test_the_state_of_the_index_is_an_event_for_whoever_follows_it() -> None:
    async with open_port(PaperDesk()) as house:
        answer = await ask(house, "GET", "/v1/workspaces/w1/index/stream", headers=AUTHORIZED)
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.text == 'data: {"asked": "index_status"}\n\n'


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
        (no_session(), 404, {"detail": "Session not found", "code": "SESSION_NOT_FOUND", "where": None}),
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
        assert answer.status_code == status
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
