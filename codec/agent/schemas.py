"""The contract for programs: JSON Schemas of all messages and bodies, and the OpenAPI document of all endpoints.

    .venv/bin/python -m tests.agent.schema_files      # writes schemas/

Rules
  - All of it is made from the structs and from the table in endpoints.py, so it says what is really read and sent.
  - A description is the docstring of a struct, or the text below its field. The texts of fields stand only in the
    source, which this module does not read: `notes` gives them.
  - A client may send fields that are not named here; they are ignored. The server may send such fields later on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from codec.agent.client_messages import ClientMessage
from codec.agent.endpoints import ENDPOINTS, STREAM, Endpoint
from codec.agent.events import ServerMessage
from codec.agent.workspaces import Detail

VERSION = "1.0.0"
"""Of the protocol."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SERVER = "http://127.0.0.1:3199"

Schema = dict[str, Any]
Notes = Callable[[type[Any]], Mapping[str, str]]
"""The texts of a struct's fields, those that have one."""

REFUSALS = {
    400: "The body is no JSON.",
    401: "The token is missing or wrong.",
    404: "There is nothing with this id.",
    409: "A turn is under way. Cancel it, or wait for its end.",
    413: "The body is too large.",
    422: "The body or the query is not what is expected, or what it asks for cannot be.",
    429: "Too many wrong tokens have come from this address. The right one is still admitted.",
    503: "Nobody can answer this now. Try again.",
}
_BEARER = "The token is in the file `agent.token` of the server's state directory."
_STREAM_SAYS = """\
A WebSocket. The first message of a client is `client.hello`; with `resume_from`, the events after that number are sent
again. Programs send the token in the header `Authorization`, or as the subprotocol `troupe.bearer.TOKEN` beside
`troupe.v1`. Pages send a ticket. Any number of clients may be connected to a session."""


def schema_files(notes: Notes) -> dict[str, Schema]:
    """By the name of the file."""
    return {
        "client_messages.json": _file("What a client says on the stream of a session", "ClientMessage", notes),
        "server_messages.json": _file("What the server says on the stream of a session", "ServerMessage", notes),
        "bodies.json": _bodies(notes),
        "openapi.json": openapi(notes),
    }


UNIONS = {"ClientMessage": ClientMessage, "ServerMessage": ServerMessage}


def _file(title: str, union: str, notes: Notes) -> Schema:
    (schema,), components = _components([UNIONS[union]], "#/$defs/{name}", notes)
    return {"$schema": DIALECT, "title": title, **schema, "$defs": components}


def _bodies(notes: Notes) -> Schema:
    kinds = dict.fromkeys([*filter(None, (kind for each in ENDPOINTS for kind in (each.body, each.answer))), Detail])
    _, components = _components(kinds, "#/$defs/{name}", notes)
    return {"$schema": DIALECT, "title": "The bodies of requests and answers over HTTP", "$defs": components}


def _components(kinds: Iterable[Any], ref: str, notes: Notes) -> tuple[tuple[Schema, ...], dict[str, Schema]]:
    schemas, components = msgspec.json.schema_components(kinds, ref_template=ref)
    known = {struct.__name__: struct for kind in kinds for struct in structs(kind)}
    for name, component in components.items():
        for field, text in notes(known[name]).items():
            component["properties"][field] = _described(component["properties"][field], text)
    return schemas, dict(sorted(components.items()))


def _described(schema: Schema, text: str) -> Schema:
    return {"description": text, **schema}


def structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """All structs in it, at any depth."""
    seen: set[type[msgspec.Struct]] = set()
    waiting = [msgspec.inspect.type_info(kind)]
    while waiting:
        match waiting.pop():
            case msgspec.inspect.StructType(cls=cls, fields=fields):
                if cls not in seen:
                    seen.add(cls)
                    yield cls
                    waiting += [field.type for field in fields]
            case msgspec.inspect.ListType(item_type=item) | msgspec.inspect.VarTupleType(item_type=item):
                waiting.append(item)
            case msgspec.inspect.DictType(value_type=value):
                waiting.append(value)
            case msgspec.inspect.UnionType(types=types):
                waiting += types
            case msgspec.inspect.Metadata(type=inner):
                waiting.append(inner)


# -- the OpenAPI document


def openapi(notes: Notes) -> Schema:
    kinds = [*filter(None, (kind for each in ENDPOINTS for kind in (each.body, each.answer))), Detail]
    ref = "#/components/schemas/{name}"
    schemas, components = _components([*kinds, *UNIONS.values()], ref, notes)
    of = {repr(kind): schema for kind, schema in zip(kinds, schemas, strict=False)}
    components |= dict(zip(UNIONS, schemas[len(kinds) :], strict=True))
    paths: dict[str, dict[str, Schema]] = {}
    for each in ENDPOINTS:
        paths.setdefault(each.path, {})[each.method] = _operation(each, of)
    paths[STREAM] = {"get": _stream()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Troupe's agent server",
            "version": VERSION,
            "description": "A developer's agent: workspaces, sessions that outlive their clients, and models.",
        },
        "servers": [{"url": SERVER}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "responses": {str(status): _refusal(text) for status, text in REFUSALS.items()}
            | {"default": _refusal("The server refuses this, and says why.")},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": _BEARER}},
        },
    }


def _operation(endpoint: Endpoint, of: Mapping[str, Schema]) -> Schema:
    operation: Schema = {"operationId": _name(endpoint), "tags": [_tag(endpoint.path)], "summary": endpoint.summary}
    if endpoint.says:
        operation["description"] = endpoint.says
    if not endpoint.token:
        operation["security"] = []
    if parameters := [*_path_fields(endpoint.path), *_query_fields(endpoint)]:
        operation["parameters"] = parameters
    if endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": _content(of[repr(endpoint.body)])}
    answer = {"type": "object"} if endpoint.answer is None else of[repr(endpoint.answer)]
    said = "Accepted" if endpoint.status == 202 else "Created" if endpoint.status == 201 else "Done"
    content = _content(answer, endpoint.media)
    operation["responses"] = {str(endpoint.status): {"description": f"{said}.", "content": content}}
    for status in _refusals(endpoint):
        operation["responses"][status] = {"$ref": f"#/components/responses/{status}"}
    return operation


def _refusals(endpoint: Endpoint) -> Iterator[str]:
    if endpoint.body is not None:
        yield "400"
    if endpoint.token:
        yield "401"
    if ("{" in endpoint.path and endpoint.finds) or (endpoint.path == "/v1/sessions" and endpoint.method == "post"):
        yield "404"
    if endpoint.waits:
        yield "409"
    if endpoint.body is not None:
        yield "413"
    if endpoint.body is not None or endpoint.query:
        yield "422"
    if endpoint.token:
        yield "429"
        yield "503"
    yield "default"


def _stream() -> Schema:
    return {
        "operationId": "stream",
        "tags": ["sessions"],
        "summary": "Open the stream of a session",
        "description": _STREAM_SAYS.replace("\n", " "),
        "parameters": [
            *_path_fields(STREAM),
            {"name": "ticket", "in": "query", "schema": {"type": "string"}, "description": "In place of the token."},
        ],
        "responses": {
            "101": {"description": "The stream is open."},
            **{each: {"$ref": f"#/components/responses/{each}"} for each in ("401", "404", "429", "default")},
        },
        "x-websocket": {
            "client": {"$ref": "#/components/schemas/ClientMessage"},
            "server": {"$ref": "#/components/schemas/ServerMessage"},
        },
    }


def _path_fields(path: str) -> Iterator[Schema]:
    for part in path.split("/"):
        if part.startswith("{"):
            schema = {"type": "string", "minLength": 1, "maxLength": 200}
            yield {"name": part.strip("{}"), "in": "path", "required": True, "schema": schema}


def _query_fields(endpoint: Endpoint) -> Iterator[Schema]:
    for each in endpoint.query:
        schema = msgspec.json.schema(each.kind)
        if each.default is not None:
            schema["default"] = each.default
        yield {"name": each.name, "in": "query", "description": each.says, "schema": schema}


def _name(endpoint: Endpoint) -> str:
    """Such as get_workspaces_policy."""
    parts = [part for part in endpoint.path.removesuffix(".json").split("/")[2:] if not part.startswith("{")]
    one = "_one" if endpoint.path.endswith("}") else ""
    return "_".join((endpoint.method, *parts)) + one


def _tag(path: str) -> str:
    return "indexing" if "/index/" in path else path.split("/")[2].removesuffix(".json")


def _content(schema: Schema, media: str = "application/json") -> Schema:
    return {media: {"schema": schema}}


def _refusal(text: str) -> Schema:
    return {"description": text, "content": _content({"$ref": "#/components/schemas/Detail"})}
