"""The agent's port: the contract over HTTP, and the stream of a session as a WebSocket.

GET  /v1/health                                   alone needs no token
GET  /v1/workspaces   POST .../register           GET .../{id}   GET, PUT .../{id}/policy
GET  /v1/workspaces/{id}/approvals                DELETE .../approvals/{approval_id}
POST /v1/workspaces/{id}/index, .../index/..., .../watch/start, .../watch/stop
GET  /v1/workspaces/{id}/index/status             .../index/stream   .../search
GET, POST /v1/sessions                            GET, PATCH, DELETE .../{id}   GET .../{id}/messages, /events, /export
POST /v1/sessions/{id}/undo, /redo                GET .../approvals   DELETE .../approvals/{approval_id}
GET  /v1/models   GET, PUT /v1/models/current     POST /v1/models/switch
POST /v1/tickets                                  lets one WebSocket in, once: for pages
GET  /v1/openapi.json                             all of this, for programs
WS   /v1/sessions/{id}/stream
GET  /   /web/...                                 the page and its files, which hold nothing that is secret

Every refusal is `{"detail": sentence, "code": ...}`. A path of the contract is never looked for among the page's files:
another method on such a path is answered with a 405 that names the methods of this path, and no more. gate.py says who
is let in; the door checks Host and Origin.
"""

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from importlib.resources.abc import Traversable
from typing import Protocol, get_args

import msgspec
from quart import Response, request
from werkzeug.routing import Map

from actors.kernel import KernelError, in_words
from codec.agent.callers import caller
from codec.agent.events import ErrorBody, ServerError
from codec.agent.index.asking import LONGEST_QUERY, SearchKind
from codec.agent.refusing import ContractRefusal
from codec.agent.workspaces import Detail, StreamTicket
from codec.words import listed
from transports.agent.gate import Denial, Gate, bearer, bearer_protocol
from transports.http.application import Application, KeepingSlashes, RouteRule, as_sentence, fresh, whole_body
from transports.http.static import TYPES, serve_files
from transports.websocket.websocket import Handler, Upgrade, WebSocket
from transports.wire.refusal import Wording

RESTARTING, TRY_LATER, NOT_FOUND = 1012, 1013, 4404
BODY_BYTES = 16 << 20
"""The largest body; for the door's limits."""
MESSAGE_BYTES = 8 << 20
"""The largest message of a client; the same."""

_STREAM = re.compile(r"/v1/sessions/([^/]{1,200})/stream")
_TICKET = re.compile(r"(?:.*&)?ticket=([A-Za-z0-9_-]{1,200})(?:&.*)?")

encoder = msgspec.json.Encoder()

IN_JSON = Wording(TYPES[".json"], lambda sentence: encoder.encode(Detail(detail=sentence)))
"""For the door: whoever reads the agent's answers reads JSON, whichever layer refuses."""


class AgentSeat(Protocol):
    async def heard(self, text: str | bytes) -> None:
        """The client's next message."""


class IndexDesk(Protocol):
    async def status(self, id: str) -> bytes: ...  # noqa: A002 - as in the contract
    async def reindex(self, id: str, *, anew: bool) -> bytes: ...  # noqa: A002
    async def changed(self, id: str, body: bytes) -> bytes: ...  # noqa: A002
    async def run(self, id: str) -> bytes: ...  # noqa: A002
    async def follow(self, id: str, *, on: bool) -> AsyncIterator[bytes]: ...  # noqa: A002
    async def watch(self, id: str, *, wanted: bool) -> bytes: ...  # noqa: A002
    async def search(self, id: str, words: str, kind: SearchKind, most: int) -> bytes: ...  # noqa: A002


class AgentDesk(Protocol):
    """Answers requests. Every refusal is a ContractRefusal or a KernelError whose text can be shown."""

    async def health(self) -> bytes: ...
    async def workspaces(self) -> bytes: ...
    async def register(self, body: bytes) -> bytes: ...
    async def workspace(self, id: str) -> bytes: ...  # noqa: A002 - as in the contract
    async def policy(self, id: str) -> bytes: ...  # noqa: A002
    async def change_policy(self, id: str, body: bytes, by: str) -> bytes: ...  # noqa: A002
    async def workspace_approvals(self, id: str) -> bytes: ...  # noqa: A002
    async def forget_workspace_approval(self, id: str, approval_id: str, by: str) -> bytes: ...  # noqa: A002
    @property
    def index(self) -> "IndexDesk": ...
    async def models(self) -> bytes: ...
    async def model(self) -> bytes: ...
    async def change_model(self, body: bytes) -> bytes: ...
    async def switch_model(self, body: bytes) -> bytes: ...
    async def create_session(self, body: bytes) -> bytes: ...
    async def sessions(self, workspace_id: str | None) -> bytes: ...
    async def session(self, id: str) -> bytes: ...  # noqa: A002
    async def change_session(self, id: str, body: bytes) -> bytes: ...  # noqa: A002
    async def delete_session(self, id: str) -> bytes: ...  # noqa: A002
    async def session_approvals(self, id: str) -> bytes: ...  # noqa: A002
    async def forget_session_approval(self, id: str, approval_id: str, by: str) -> bytes: ...  # noqa: A002
    async def undo(self, id: str, body: bytes, by: str) -> bytes: ...  # noqa: A002
    async def redo(self, id: str, body: bytes, by: str) -> bytes: ...  # noqa: A002
    async def messages(self, id: str) -> bytes: ...  # noqa: A002
    async def events(self, id: str, after: int, limit: int) -> bytes: ...  # noqa: A002
    async def export(self, id: str) -> AsyncIterator[bytes]: ...  # noqa: A002
    def attach(self, id: str, wire: WebSocket) -> AbstractAsyncContextManager[AgentSeat]: ...  # noqa: A002


def agent_application(desk: AgentDesk, gate: Gate, web: Traversable, contract: bytes) -> Application:
    """`contract`: the OpenAPI document."""
    app = Application("agent")
    app.asgi_http_class = KeepingSlashes
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # of all routes that match, also the files'
    serve_files(app, web, index="agent/index.html")
    serve_files(app, web, at="/web/")

    @app.before_request
    async def only_with_a_token() -> Response | None:
        if not request.path.startswith("/v1/") or (request.method in ("GET", "HEAD") and request.path == "/v1/health"):
            return None
        denial = gate.admit(bearer(request.headers.getlist("authorization")), request.remote_addr or "")
        return None if denial is None else _denied(denial)

    @app.post("/v1/tickets")
    async def ticket() -> Response:
        text, seconds = gate.ticket()
        return _json(encoder.encode(StreamTicket(ticket=text, expires_in=seconds)), 201)

    @app.get("/v1/openapi.json")
    async def openapi() -> Response:
        return _json(contract)

    _routes(app, desk)
    _index_routes(app, desk.index)
    contract_map = _contract_map(app)

    @app.before_request
    async def only_what_the_contract_has() -> Response | None:
        if not request.path.startswith("/v1/"):
            return None
        allowed = sorted(contract_map.bind("").allowed_methods(request.path))
        if request.method in allowed:
            return None
        if not allowed:
            return _json(encoder.encode(Detail(detail=f"There is nothing at {request.path!r} here.")), 404)
        sentence = f"There is no {request.method} at {request.path!r}; it takes {listed(allowed)}."
        answer = _json(encoder.encode(Detail(detail=sentence)), 405)
        answer.headers["allow"] = ", ".join(allowed)
        return answer

    @app.errorhandler(ContractRefusal)
    async def refused(refusal: ContractRefusal) -> Response:
        detail = Detail(detail=str(refusal), code=refusal.code, where=refusal.where)
        return _json(encoder.encode(detail), refusal.status)

    @app.errorhandler(KernelError)
    async def not_now(error: KernelError) -> Response:
        answer = _json(encoder.encode(Detail(detail=as_sentence(in_words(error)), code="BUSY")), 503)
        answer.headers["retry-after"] = "1"
        return answer

    @app.after_request
    async def refused_in_json(response: Response) -> Response:
        if request.path.startswith("/v1/") and response.status_code >= 400 and response.content_type == TYPES[".txt"]:
            sentence = (await response.get_data(as_text=True)).strip()
            response.set_data(encoder.encode(Detail(detail=sentence)))
            response.content_type = TYPES[".json"]
        return response

    return app


def _contract_map(app: Application) -> Map:
    """The paths of the contract alone, without those of the page's files, which match everything."""
    rules = [
        RouteRule(rule.rule, methods=rule.methods, endpoint=rule.endpoint)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/v1/")
    ]
    return Map(rules, merge_slashes=False, strict_slashes=False)


def _routes(app: Application, desk: AgentDesk) -> None:
    """What is passed on as it is: a path, its method, and the desk's answer."""

    @app.get("/v1/health")
    async def health() -> Response:
        return _json(await desk.health())

    @app.get("/v1/workspaces")
    async def workspaces() -> Response:
        return _json(await desk.workspaces())

    @app.post("/v1/workspaces/register")
    async def register() -> Response:
        return _json(await desk.register(await whole_body()))

    @app.get("/v1/workspaces/<id>")
    async def workspace(id: str) -> Response:  # noqa: A002
        return _json(await desk.workspace(id))

    @app.get("/v1/workspaces/<id>/policy")
    async def policy(id: str) -> Response:  # noqa: A002
        return _json(await desk.policy(id))

    @app.put("/v1/workspaces/<id>/policy")
    async def change_policy(id: str) -> Response:  # noqa: A002
        return _json(await desk.change_policy(id, await whole_body(), _caller()))

    @app.get("/v1/workspaces/<id>/approvals")
    async def workspace_approvals(id: str) -> Response:  # noqa: A002
        return _json(await desk.workspace_approvals(id))

    @app.delete("/v1/workspaces/<id>/approvals/<approval_id>")
    async def forget_workspace_approval(id: str, approval_id: str) -> Response:  # noqa: A002
        return _json(await desk.forget_workspace_approval(id, approval_id, _caller()))

    @app.get("/v1/models")
    async def models() -> Response:
        return _json(await desk.models())

    @app.get("/v1/models/current")
    async def model() -> Response:
        return _json(await desk.model())

    @app.put("/v1/models/current")
    async def change_model() -> Response:
        return _json(await desk.change_model(await whole_body()))

    @app.post("/v1/models/switch")
    async def switch_model() -> Response:
        return _json(await desk.switch_model(await whole_body()))

    @app.post("/v1/sessions")
    async def create_session() -> Response:
        return _json(await desk.create_session(await whole_body()))

    @app.get("/v1/sessions")
    async def sessions() -> Response:
        return _json(await desk.sessions(request.args.get("workspace_id")))

    @app.get("/v1/sessions/<id>")
    async def session(id: str) -> Response:  # noqa: A002
        return _json(await desk.session(id))

    @app.patch("/v1/sessions/<id>")
    async def change_session(id: str) -> Response:  # noqa: A002
        return _json(await desk.change_session(id, await whole_body()))

    @app.delete("/v1/sessions/<id>")
    async def delete_session(id: str) -> Response:  # noqa: A002
        return _json(await desk.delete_session(id))

    @app.get("/v1/sessions/<id>/approvals")
    async def session_approvals(id: str) -> Response:  # noqa: A002
        return _json(await desk.session_approvals(id))

    @app.delete("/v1/sessions/<id>/approvals/<approval_id>")
    async def forget_session_approval(id: str, approval_id: str) -> Response:  # noqa: A002
        return _json(await desk.forget_session_approval(id, approval_id, _caller()))

    @app.post("/v1/sessions/<id>/undo")
    async def undo(id: str) -> Response:  # noqa: A002
        return _json(await desk.undo(id, await whole_body(), _caller()))

    @app.post("/v1/sessions/<id>/redo")
    async def redo(id: str) -> Response:  # noqa: A002
        return _json(await desk.redo(id, await whole_body(), _caller()))

    @app.get("/v1/sessions/<id>/messages")
    async def messages(id: str) -> Response:  # noqa: A002
        return _json(await desk.messages(id))

    @app.get("/v1/sessions/<id>/events")
    async def events(id: str) -> Response:  # noqa: A002
        return _json(await desk.events(id, _number("after", 0, 1 << 53), _number("limit", 1000, 10_000)))

    @app.get("/v1/sessions/<id>/export")
    async def export(id: str) -> Response:  # noqa: A002
        answer = Response(await desk.export(id), content_type="application/x-ndjson")
        answer.headers["content-disposition"] = 'attachment; filename="session.jsonl"'
        answer.headers["cache-control"] = "no-store"
        return answer


def _index_routes(app: Application, index: IndexDesk) -> None:
    @app.get("/v1/workspaces/<id>/index/status")
    async def index_status(id: str) -> Response:  # noqa: A002
        return _json(await index.status(id))

    @app.get("/v1/workspaces/<id>/index/stream")
    async def index_stream(id: str) -> Response:  # noqa: A002
        answer = Response(await index.follow(id, on=_number("follow", 0, 1) == 1), content_type="text/event-stream")
        answer.headers["cache-control"] = "no-store"
        return answer

    @app.post("/v1/workspaces/<id>/index/rebuild")
    async def rebuild(id: str) -> Response:  # noqa: A002
        return _json(await index.reindex(id, anew=True), 202)

    @app.post("/v1/workspaces/<id>/index/refresh")
    async def refresh(id: str) -> Response:  # noqa: A002
        return _json(await index.reindex(id, anew=False), 202)

    @app.post("/v1/workspaces/<id>/index/incremental")
    async def incremental(id: str) -> Response:  # noqa: A002
        return _json(await index.changed(id, await whole_body()), 202)

    @app.post("/v1/workspaces/<id>/index")
    async def index_all(id: str) -> Response:  # noqa: A002
        return _json(await index.run(id))

    @app.post("/v1/workspaces/<id>/watch/start")
    async def watch_start(id: str) -> Response:  # noqa: A002
        return _json(await index.watch(id, wanted=True))

    @app.post("/v1/workspaces/<id>/watch/stop")
    async def watch_stop(id: str) -> Response:  # noqa: A002
        return _json(await index.watch(id, wanted=False))

    @app.get("/v1/workspaces/<id>/search")
    async def search(id: str) -> Response:  # noqa: A002
        words = request.args.get("q", "")
        if len(words) > LONGEST_QUERY:
            raise ContractRefusal(422, "INVALID_MESSAGE", f"`q` has {LONGEST_QUERY} characters at most.")
        most = _number("most", 20, 100, least=1)
        return _json(await index.search(id, words, _kind(request.args.get("kind", "all")), most))


def _kind(text: str) -> SearchKind:
    for kind in get_args(SearchKind):
        if text == kind:
            return kind  # type: ignore[no-any-return]
    raise ContractRefusal(422, "INVALID_MESSAGE", f"`kind` is one of {listed(get_args(SearchKind))}.")


def agent_websocket(desk: AgentDesk, gate: Gate) -> Handler:
    async def on_websocket(upgrade: Upgrade) -> None:
        if not (match := _STREAM.fullmatch(upgrade.path)):
            await upgrade.reject(404, "The stream of a session is at /v1/sessions/ID/stream.")
            return
        token, subprotocol = bearer_protocol(upgrade.subprotocols)
        denial = _checked(gate, upgrade, token)
        if denial is not None:
            await upgrade.reject(denial.status, denial.sentence)
            return
        socket = await upgrade.accept(subprotocol=subprotocol)
        try:
            async with desk.attach(match[1], socket) as seat:
                while True:
                    await seat.heard(await socket.receive())
        except ContractRefusal as refusal:
            body = ErrorBody(code=refusal.code, message=str(refusal), recoverable=False)
            await socket.send(encoder.encode(ServerError(error=body)).decode())
            await socket.close(NOT_FOUND, str(refusal))
        except KernelError as error:
            await socket.close(TRY_LATER, in_words(error))
        else:
            await socket.close(RESTARTING, "the session's end of this has ended; connect again")

    return on_websocket


def _checked(gate: Gate, upgrade: Upgrade, token: str | None) -> Denial | None:
    address = upgrade.remote.rpartition(":")[0]
    if token is None:
        values = [value for name, value in upgrade.headers if name.lower() == "authorization"]
        token = bearer(values)
    if token is None and (match := _TICKET.fullmatch(upgrade.query)):
        return gate.admit_ticket(match[1], address)
    return gate.admit(token, address)


def _number(name: str, default: int, most: int, *, least: int = 0) -> int:
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 17 and least <= int(text) <= most):
        raise ContractRefusal(422, "INVALID_MESSAGE", f"`{name}` is a whole number from {least} to {most:,}.")
    return int(text)


def _json(answer: bytes, status: int = 200) -> Response:
    return fresh(answer, TYPES[".json"], status)


def _caller() -> str:
    return caller(request.headers.get("user-agent", ""))


def _denied(denial: Denial) -> Response:
    answer = _json(encoder.encode(Detail(detail=denial.sentence, code="UNAUTHORIZED")), denial.status)
    answer.headers["www-authenticate"] = "Bearer"
    if denial.retry_after is not None:
        answer.headers["retry-after"] = str(denial.retry_after)
    return answer
