"""Whatever is asked over HTTP at the agent's port is answered as its own OpenAPI document says: no fault of the server,
no restart, and every answer fits its schema."""

import json
import socket
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.agent.by_schema import Schemas, anything, malformed
from tests.agent.schema_files import FOLDER
from tests.house.agent_kit import agent_server, fake_model
from tests.house.running import DEADLINE, Server
from tests.house.test_agent import restarts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

CONTRACT = json.loads((FOLDER / "openapi.json").read_text())
SCHEMAS = Schemas(CONTRACT)
OPERATIONS = [
    (method, path, operation)
    for path, methods in CONTRACT["paths"].items()
    for method, operation in methods.items()
    if method in ("get", "put", "post", "patch", "delete") and not path.endswith("/stream")
]
NAMES = [f"{method} {path}" for method, path, _ in OPERATIONS]
ODD_IDS = st.text(min_size=1, max_size=30) | st.sampled_from(
    ["/x", "%2e%2e", "%00", "../../etc/passwd", "x" * 300, "x" * 5000, "'; drop table", "current", "null", "\ud7ff"]
)
ODD_HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "accept", "accept-encoding", "x-odd", "if-none-match", "range", "cookie"]),
    st.text(string.printable.strip(), max_size=40),
    max_size=3,
)
ODD_QUERY = st.dictionaries(
    st.sampled_from(["after", "limit", "workspace_id", "ticket", "x"]),
    st.sampled_from(["", "0", "-1", "1e9", "9" * 30, "null", "\x00", "ä", "1", "10001"]) | st.text(max_size=10),
    max_size=3,
)


class Asked:
    """The agent of a server, its session and its workspace."""

    def __init__(self, house: Server, folder: Path) -> None:
        self.house = house
        self.port = urlsplit(house.url_of("agent")).port
        token = (house.state / "agent.token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=house.url_of("agent"), headers=headers, timeout=DEADLINE)
        folder.mkdir()
        self.folder = folder
        self.workspace = self.client.post("/v1/workspaces/register", json={"path": str(folder)}).json()["id"]
        self.session = self.client.post("/v1/sessions", json={"workspace_id": self.workspace}).json()["id"]

    def path_of(self, path: str, odd: str | None) -> str:
        if odd is not None:  # a client itself takes away what is . or ..
            odd = quote(odd, safe="") if odd.strip(".") else f"{odd}x"
        return path.format(
            workspace_id=odd or self.workspace, session_id=odd or self.session, approval_id=odd or "approval"
        )

    def check(self, operation: dict[str, Any], answer: httpx.Response) -> None:
        told = f"{answer.request.method} {answer.request.url} {answer.request.content!r:.300}: {answer.text:.300}"
        assert answer.status_code < 500 or answer.status_code == 503, told
        declared = operation["responses"].get(str(answer.status_code), operation["responses"]["default"])
        content = SCHEMAS.at(declared).get("content", {})
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in content, told
        if kind == "application/json":
            why_not = SCHEMAS.why_not(content[kind]["schema"], answer.json())
            assert why_not is None, (why_not, told)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("agent")
    with fake_model("--rate", "0") as model, agent_server(folder, model) as house:
        agent = Asked(house, folder / "work")
        yield agent
        agent.client.close()
        assert restarts(house) == {}
        assert house.json("/tree.json")["crashes"] == []
        assert house.stop() == 0
    assert "Traceback" not in house.said


def from_below(agent: Asked, head: str, body: bytes = b"") -> httpx.Response:
    """The answer to a request that no library of HTTP would send."""
    with socket.create_connection((urlsplit(agent.house.url_of("agent")).hostname, agent.port), DEADLINE) as plug:
        plug.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        told = b"".join(iter(lambda: plug.recv(1 << 16), b""))
    top, _, rest = told.partition(b"\r\n\r\n")
    status, *lines = top.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return httpx.Response(int(status.split()[1]), headers=headers, content=rest)


BELOW = {
    "a request line that is too long": (414, f"GET /v1/{'x' * 9000} HTTP/1.1\nHost: {{host}}"),
    "too many headers": (431, "GET /v1/health HTTP/1.1\nHost: {host}\n" + "x: y\n" * 300 + "z: z"),
    "no host": (400, "GET /v1/health HTTP/1.1\nAccept: */*"),
    "another host": (421, "GET /v1/health HTTP/1.1\nHost: elsewhere.example"),
    "another origin": (403, "GET /v1/health HTTP/1.1\nHost: {host}\nOrigin: https://elsewhere.example"),
    "two lengths": (400, "POST /v1/sessions HTTP/1.1\nHost: {host}\nContent-Length: 1\nContent-Length: 2"),
    "a body that is too large": (413, "POST /v1/sessions HTTP/1.1\nHost: {host}\nContent-Length: 99999999"),
    "another protocol": (505, "GET /v1/health HTTP/2.0\nHost: {host}"),
    "a socket that is none": (400, "GET /v1/sessions/x/stream HTTP/1.1\nHost: {host}\nUpgrade: websocket"),
    "a socket elsewhere": (
        404,
        "GET /v1/nowhere HTTP/1.1\nHost: {host}\nUpgrade: websocket\nConnection: Upgrade\n"
        "Sec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ),
}


@pytest.mark.parametrize("name", BELOW)
def test_what_is_refused_below_the_application_is_refused_in_json_too(agent: Asked, name: str) -> None:
    status, head = BELOW[name]
    answer = from_below(agent, head.format(host=f"127.0.0.1:{agent.port}"))
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    why_not = SCHEMAS.why_not({"$ref": "#/components/schemas/Detail"}, answer.json())
    assert why_not is None, (why_not, answer.text)
    assert answer.json()["detail"].endswith((".", "'"))


def body_of(operation: dict[str, Any]) -> dict[str, Any] | None:
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    return content["application/json"]["schema"] if content else None


@pytest.mark.parametrize("at", range(len(OPERATIONS)), ids=NAMES)
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_asked_the_answer_is_one_of_the_contract(agent: Asked, at: int, data: st.DataObject) -> None:
    method, path, operation = OPERATIONS[at]
    schema = body_of(operation)
    odd = data.draw(st.none() | ODD_IDS) if method != "delete" else data.draw(ODD_IDS)
    content: bytes | None = None
    if schema is not None:
        drawn = st.binary(max_size=50) | (SCHEMAS.drawn(schema) | anything).map(lambda each: json.dumps(each).encode())
        content = data.draw(drawn)
    elif data.draw(st.booleans()):
        content = data.draw(st.binary(max_size=50))
    answer = agent.client.request(
        method, agent.path_of(path, odd), content=content, params=data.draw(ODD_QUERY), headers=data.draw(ODD_HEADERS)
    )
    agent.check(operation, answer)


@pytest.mark.parametrize("name", [name for name, (_, _, each) in zip(NAMES, OPERATIONS, strict=True) if body_of(each)])
def test_a_body_that_is_malformed_in_any_field_is_refused_in_words(agent: Asked, name: str) -> None:
    method, path, operation = OPERATIONS[NAMES.index(name)]
    schema = body_of(operation)
    assert schema is not None
    refused = 0
    for body in malformed(SCHEMAS.example(schema)):
        if SCHEMAS.why_not(schema, body) is None:
            continue
        refused += 1
        answer = agent.client.request(method, agent.path_of(path, None), json=body)
        assert answer.status_code == 422, (body, answer.text)
        assert answer.json()["code"] == "INVALID_MESSAGE"
        agent.check(operation, answer)
    assert refused > 5
