"""schemas/ is what codec/agent says, it holds together, and what it allows is what is read."""

import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any, cast, get_args

import msgspec
import pytest
import trio

from codec.agent import events
from codec.agent.approvals import Remembered
from codec.agent.client_messages import ClientMessage
from codec.agent.endpoints import ENDPOINTS, STREAM
from codec.agent.events import ServerMessage
from codec.agent.reading import BadClientMessage, read_client_message
from codec.agent.schemas import openapi, structs
from codec.agent.workspaces import Policy, PolicyChange
from tests.agent.schema_files import COMMAND, FOLDER, notes, texts
from tests.transports.agent.test_port import AUTHORIZED, PaperDesk, ask, open_port
from transports.agent.gate import Gate
from transports.agent.port import agent_application

FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix == ".json")
CONTRACT = """
GET /v1/health
GET /v1/workspaces
POST /v1/workspaces/register
GET /v1/workspaces/{workspace_id}
GET /v1/workspaces/{workspace_id}/policy
PUT /v1/workspaces/{workspace_id}/policy
POST /v1/workspaces/{workspace_id}/index/rebuild
POST /v1/workspaces/{workspace_id}/index/refresh
POST /v1/workspaces/{workspace_id}/index/incremental
GET /v1/workspaces/{workspace_id}/index/status
POST /v1/sessions
GET /v1/sessions
GET /v1/sessions/{session_id}
DELETE /v1/sessions/{session_id}
GET /v1/models
GET /v1/models/current
PUT /v1/models/current
GET /v1/sessions/{session_id}/stream
"""
OURS = """
GET /v1/workspaces/{workspace_id}/index/stream
GET /v1/workspaces/{workspace_id}/search
POST /v1/workspaces/{workspace_id}/index
POST /v1/workspaces/{workspace_id}/watch/start
POST /v1/workspaces/{workspace_id}/watch/stop
PATCH /v1/sessions/{session_id}
GET /v1/sessions/{session_id}/messages
GET /v1/workspaces/{workspace_id}/approvals
DELETE /v1/workspaces/{workspace_id}/approvals/{approval_id}
GET /v1/sessions/{session_id}/approvals
DELETE /v1/sessions/{session_id}/approvals/{approval_id}
POST /v1/sessions/{session_id}/undo
POST /v1/sessions/{session_id}/redo
GET /v1/sessions/{session_id}/events
GET /v1/sessions/{session_id}/export
POST /v1/models/switch
POST /v1/tickets
GET /v1/openapi.json
"""
CLIENT_TYPES = """
client.hello client.user_message client.context_update client.approval_response client.patch_apply_result
client.command_result client.take_back_command client.cancel client.approve_plan client.file_changes client.withdraw
client.ping
"""
SERVER_TYPES = """
server.hello assistant.thinking agent.plan agent.retrieve.status tool.execute patch.proposed tool.request_approval
command.request_approval assistant.token assistant.message_final server.error session.state
user.message context.usage context.compacted model.changed approval.resolved server.pong
patch.applied file.changed command.started command.taken_back command.output command.finished turn.undone
mode.changed policy.changed approval.remembered approval.forgotten
"""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi(notes)


def every(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in it."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from every(each)
    elif isinstance(value, list):
        for each in value:
            yield from every(each)


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_as_codec_has_them(name: str) -> None:
    assert (FOLDER / name).read_text() == texts()[name], f"run: {COMMAND}"


def test_there_is_no_other_file() -> None:
    assert {*FILES} == texts().keys(), f"run: {COMMAND}"


@pytest.mark.parametrize("name", FILES)
def test_every_reference_leads_to_something(name: str) -> None:
    whole = json.loads(texts()[name])
    for each in every(whole):
        targets = [each["$ref"]] if "$ref" in each else []
        targets += each.get("mapping", {}).values() if "propertyName" in each else []
        for target in targets:
            found = whole
            for part in target.removeprefix("#/").split("/"):
                found = found[part]
            assert found


def test_the_document_has_the_contract_s_endpoints_and_ours(document: dict[str, Any]) -> None:
    found = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}
    assert found == {*CONTRACT.split("\n"), *OURS.split("\n")} - {""}


@pytest.mark.parametrize(("union", "types"), [(ClientMessage, CLIENT_TYPES), (ServerMessage, SERVER_TYPES)])
def test_the_messages_have_the_contract_s_types_and_ours(union: Any, types: str) -> None:
    assert {each.__struct_config__.tag for each in get_args(union)} == set(types.split())


def test_every_operation_has_its_own_name_a_summary_and_refusals_with_a_detail(document: dict[str, Any]) -> None:
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    names = [each["operationId"] for each in operations]
    assert len({*names}) == len(names)
    for each in operations:
        assert each["summary"]
        refusals = {status: answer for status, answer in each["responses"].items() if not status.startswith(("1", "2"))}
        assert "default" in refusals
        for status, answer in refusals.items():
            assert answer == {"$ref": f"#/components/responses/{status}"}
    for each in document["components"]["responses"].values():
        assert each["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Detail"}


def test_health_alone_needs_no_token(document: dict[str, Any]) -> None:
    assert document["security"] == [{"bearer": []}]
    free = [path for path, item in document["paths"].items() for each in item.values() if each.get("security") == []]
    assert free == ["/v1/health"]
    for endpoint in ENDPOINTS:
        answers = document["paths"][endpoint.path][endpoint.method]["responses"]
        assert ("401" in answers) is endpoint.token


def test_the_fields_in_a_path_are_its_parameters(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for each in item.values():
            told = {field["name"] for field in each.get("parameters", ()) if field["in"] == "path"}
            assert told == set(re.findall(r"\{(\w+)\}", path))


def test_the_text_of_a_field_is_its_description(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["UserSays"]["properties"]["delivery"]["description"].startswith("While a turn runs")
    assert schemas["ModelConfig"]["properties"]["url"]["description"] == "Without /v1."
    assert schemas["MessageFinal"]["description"].startswith("Ends the turn.")
    assert all(notes(struct).keys() <= {*struct.__struct_fields__} for union in (ClientMessage, ServerMessage)
               for struct in structs(union))  # fmt: skip


def test_the_stream_tells_of_both_sides(document: dict[str, Any]) -> None:
    sides = document["paths"][STREAM]["get"]["x-websocket"]
    for side, types in (("client", CLIENT_TYPES), ("server", SERVER_TYPES)):
        schema = document["components"]["schemas"][sides[side]["$ref"].rpartition("/")[2]]
        assert set(schema["discriminator"]["mapping"]) == set(types.split())


# -- the port


def without_names(path: str) -> str:
    return re.sub(r"\{[^}]*\}|<[^>]*>", "ID", path)


def test_the_port_has_exactly_these_endpoints() -> None:
    gate = Gate("k", trio.current_time)
    app = agent_application(cast(Any, PaperDesk()), gate, cast(Any, resources.files("web")), b"{}")
    found = {
        (method.lower(), without_names(rule.rule))
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
        if rule.rule.startswith("/v1/") and method not in ("HEAD", "OPTIONS")
    }
    assert found == {(each.method, without_names(each.path)) for each in ENDPOINTS}


@pytest.mark.slow
async def test_the_port_answers_with_these_statuses_and_wants_the_token_where_it_is_said() -> None:
    async with open_port(PaperDesk()) as house:
        for each in ENDPOINTS:
            body = b"{}" if each.body is not None else None
            path = without_names(each.path)
            answer = await ask(house, each.method.upper(), path, content=body, headers=AUTHORIZED)
            assert answer.status_code == each.status, path
            denied = await ask(house, each.method.upper(), path, content=body)
            assert denied.status_code in ((401, 429) if each.token else (each.status,)), path
            if each.token:
                assert denied.json().keys() == {"detail", "code", "where"}


# -- what the contract shows


EXAMPLES = [
    {"type": "client.hello", "client_info": {"name": "vscode-extension", "version": "0.1.0",
     "capabilities": ["diff_preview", "terminal_exec", "git_integration"]}},
    {"type": "client.context_update", "updates": {"diagnostics": [], "terminal_output": {}}},
    {"type": "client.approval_response", "request_id": "req_abc123", "approved": True, "scope": "all",
     "file_path": "src/auth/login.ts"},
    {"type": "client.patch_apply_result", "patch_id": "patch_abc123", "file_path": "src/auth/login.ts",
     "success": True, "error": None, "applied_hash": "sha256:def456..."},
    {"type": "client.patch_apply_result", "patch_id": "patch_abc123", "file_path": "src/auth/login.ts",
     "success": False, "error": {"message": "...", "type": "conflict"}},
    {"type": "client.command_result", "command_id": "cmd_abc123", "command": "npm test", "exit_code": 0,
     "stdout": "...", "stderr": "...", "duration_ms": 2340},
    {"type": "client.cancel", "reason": "user_cancelled"},
    {"type": "client.file_changes", "changes": [{"type": "created", "file_path": "src/utils/new_helper.ts",
     "content_hash": "sha256:abc123...", "timestamp": "2025-12-30T10:35:12Z"}]},
    {"type": "client.user_message", "message": "Fix the authentication bug", "context": {
        "active_editor": {"file_path": "src/auth/login.ts", "language": "typescript",
            "selection": {"start": {"line": 23, "character": 0}, "end": {"line": 45, "character": 12}},
            "visible_range": {"start": 1, "end": 100}, "content_hash": "sha256:abc123..."},
        "open_editors": [{"file_path": "src/auth/session.ts", "is_dirty": False, "visible": True}],
        "diagnostics": [{"file_path": "src/auth/login.ts", "severity": "error",
            "message": "Property 'password' is used before being defined", "line": 23, "character": 15,
            "source": "typescript"}],
        "terminal_output": {"command": "npm test", "exit_code": 1, "stdout": "FAIL src/auth/login.test.ts...",
            "stderr": "", "timestamp": "2025-12-30T10:30:45Z"},
        "git_context": {"branch": "feature/auth-fix", "staged_files": [],
            "modified_files": ["src/auth/login.ts", "src/auth/session.ts"],
            "recent_commits": [{"sha": "abc123", "message": "Add password validation", "author": "Kevin",
                "timestamp": "2025-12-30T09:15:00Z"}]},
        "mentions": [{"type": "file", "path": "src/utils/validator.ts"},
            {"type": "symbol", "name": "validatePassword", "file_path": "src/utils/validator.ts", "line": 12}],
        "command": "/fix"}},
]  # fmt: skip


def allows(schema: dict[str, Any], value: Any, defs: dict[str, Any]) -> bool:
    """As a validator of JSON Schema would say it, as far as our schemas go; an unknown word is an error."""
    for word, wanted in schema.items():
        match word:
            case "$ref":
                fine = allows(defs[wanted.rpartition("/")[2]], value, defs)
            case "anyOf":
                fine = any(allows(each, value, defs) for each in wanted)
            case "enum":
                fine = value in wanted
            case "type":
                kinds: dict[str, Any] = {
                    "object": dict,
                    "array": list,
                    "string": str,
                    "boolean": bool,
                    "null": type(None),
                }
                kinds |= {"integer": int, "number": (int, float)}
                fine = isinstance(value, kinds[wanted]) and not (isinstance(value, bool) and wanted != "boolean")
            case "properties":
                fine = all(allows(each, value[name], defs) for name, each in wanted.items() if name in value)
            case "required":
                fine = all(name in value for name in wanted)
            case "items":
                fine = all(allows(wanted, each, defs) for each in value)
            case "additionalProperties":
                fine = all(allows(wanted, each, defs) for each in value.values())
            case "minLength":
                fine = len(value) >= wanted
            case "maxLength" | "maxItems":
                fine = len(value) <= wanted
            case "minimum":
                fine = value >= wanted
            case "maximum":
                fine = value <= wanted
            case "title" | "description" | "default" | "discriminator" | "$schema" | "$defs":
                fine = True
            case _:
                raise AssertionError(f"the schemas use {word}")
        if not fine:
            return False
    return True


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: str(each["type"]))
def test_what_the_contract_shows_of_clients_is_allowed_and_read(example: dict[str, Any]) -> None:
    schema = json.loads(texts()["client_messages.json"])
    assert allows(schema, example, schema["$defs"])
    assert read_client_message(msgspec.json.encode(example))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        None,
        {"type": "client.nothing"},
        {"type": "client.user_message"},
        {"type": "client.user_message", "message": ""},
        {"type": "client.user_message", "message": 5},
        {"type": "client.user_message", "message": "x", "delivery": "later"},
        {"type": "client.hello", "resume_from": -1},
        {"type": "client.hello", "client_info": {"capabilities": "all"}},
        {"type": "client.approval_response", "request_id": "r", "approved": "yes"},
    ],
    ids=str,
)
def test_what_is_not_read_is_not_allowed(wrong: Any) -> None:
    schema = json.loads(texts()["client_messages.json"])
    assert not allows(schema, wrong, schema["$defs"])
    with pytest.raises(BadClientMessage):
        read_client_message(msgspec.json.encode(wrong))


@pytest.mark.parametrize("kind", get_args(ServerMessage), ids=lambda kind: str(kind.__struct_config__.tag))
def test_what_the_server_sends_is_what_the_schemas_allow(kind: Any) -> None:
    schema = json.loads(texts()["server_messages.json"])
    samples = {
        str: "text", int: 1, float: 1.0, bool: True, Any: {"any": ["thing"]},
        tuple[events.PlanStep, ...]: (events.PlanStep(step_number=1, description="d"),),
        events.FinalMetadata: events.FinalMetadata(success=True), events.SessionState: events.SessionState(),
        events.ErrorBody: events.ErrorBody(code="BUSY", message="m"), events.ModelNow: MODEL,
        events.ServerInfo: events.ServerInfo(version="1", model=MODEL),
        Policy: Policy(), PolicyChange: PolicyChange(network_enabled=True), Remembered: Remembered(id="a", kind="tool"),
    }  # fmt: skip
    hints = {field.name: field.type for field in msgspec.structs.fields(kind) if field.required}
    given = {name: samples[hint] if hint in samples else get_args(hint)[0] for name, hint in hints.items()}
    assert allows(schema, json.loads(msgspec.json.encode(kind(**given))), schema["$defs"])


MODEL = events.ModelNow(provider="builtin", model_name="builtin")
