"""The agent for its port: it reads each question, passes it to the actor that knows the answer, and answers in JSON.

The transport knows no actors and no messages: it gets bytes from here. A refusal is a ContractRefusal (the client's
mistake, or something that does not exist) or a KernelError (the actor is gone, or busy). The text of either can be
shown.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from actors.agent.client import ClientOutlet, ClientSeat, ServerFacts, client_spec
from actors.agent.given import FileRefused, ModelTrouble, Trees
from actors.agent.index.desk import IndexDesk
from actors.agent.log import SessionLog
from actors.agent.messages import (
    CLIENTS,
    MODELS,
    SESSIONS,
    WORKSPACES,
    AuditNews,
    ChangeModel,
    ChangePolicy,
    ChangeSession,
    CreateSession,
    CurrentModelAsked,
    DeleteSession,
    ForgetApproval,
    ModelsAsked,
    PolicyAsked,
    RegisterWorkspace,
    RememberedAsked,
    SessionAsked,
    SessionMessage,
    SessionsAsked,
    UndoTurn,
    WakeSession,
    WorkspaceAsked,
    WorkspacesAsked,
)
from actors.kernel import ActorDown, KernelError, Key, Registry, Reply
from actors.store import StoreError
from codec.agent.approvals import UndoWish
from codec.agent.models import ModelConfig, ModelSwitch
from codec.agent.reading import read_body
from codec.agent.refusing import ContractRefusal, no_session, no_workspace
from codec.agent.sessions import Deleted, SessionChange, SessionWish
from codec.agent.workspaces import (
    AgentHealth,
    PolicyChange,
    WorkspaceFact,
    WorkspaceWish,
)

PATIENCE = 10.0
MODEL_SECONDS = 15.0
"""For what has to ask other servers."""
UNDO_SECONDS = 60.0
TRIES = 5
"""To reach a session that may be ending just then, because nobody has needed it for a while."""

encoder = msgspec.json.Encoder()

M = TypeVar("M")
R = TypeVar("R")


async def nothing_more() -> Sequence[str]:
    return ()


class AgentDesk:
    def __init__(
        self,
        registry: Registry,
        new_id: Callable[[], str],
        facts: ServerFacts,
        found_out: Callable[[], Awaitable[Sequence[str]]] = nothing_more,
        trees: Trees | None = None,
    ) -> None:
        """`new_id`: for the actors of clients. `found_out`: capabilities beside those of `facts`, which depend on the
        machine. `trees`: from which a search shows the lines that it has found."""
        self.index = IndexDesk(registry, trees)
        self._registry = registry
        self._new_id = new_id
        self._facts = facts
        self._found_out = found_out

    async def health(self) -> bytes:
        return encoder.encode(AgentHealth(version=self._facts.version))

    # -- workspaces

    async def workspaces(self) -> bytes:
        return encoder.encode(await self._ask(WORKSPACES, WorkspacesAsked))

    async def register(self, body: bytes) -> bytes:
        wish = read_body(body, WorkspaceWish)
        try:
            return encoder.encode(await self._ask(WORKSPACES, partial(RegisterWorkspace, wish)))
        except FileRefused as refused:
            raise ContractRefusal(422, "INVALID_MESSAGE", str(refused), "$.path") from None

    async def workspace(self, id: str) -> bytes:  # noqa: A002 - as in the contract
        return encoder.encode(await self._workspace(id))

    async def policy(self, id: str) -> bytes:  # noqa: A002
        return encoder.encode(_there(await self._ask(WORKSPACES, partial(PolicyAsked, id)), no_workspace))

    async def change_policy(self, id: str, body: bytes, by: str) -> bytes:  # noqa: A002
        change = read_body(body, PolicyChange)
        return encoder.encode(_there(await self._ask(WORKSPACES, partial(ChangePolicy, id, change, by)), no_workspace))

    async def workspace_approvals(self, id: str) -> bytes:  # noqa: A002
        return encoder.encode(_there(await self._ask(WORKSPACES, partial(RememberedAsked, id)), no_workspace))

    async def forget_workspace_approval(self, id: str, approval_id: str, by: str) -> bytes:  # noqa: A002
        found = await self._ask(WORKSPACES, partial(ForgetApproval, id, approval_id, by))
        return encoder.encode(Deleted(success=_there(found, no_workspace)))

    # -- models

    async def models(self) -> bytes:
        return encoder.encode(await self._ask(MODELS, ModelsAsked, MODEL_SECONDS))

    async def model(self) -> bytes:
        return encoder.encode(await self._ask(MODELS, CurrentModelAsked))

    async def change_model(self, body: bytes) -> bytes:
        config = read_body(body, ModelConfig)
        await self._change_model(config)
        return encoder.encode(config)

    async def switch_model(self, body: bytes) -> bytes:
        """The original's way."""
        config = read_body(body, ModelConfig)
        old = await self._change_model(config)
        said = f"Switched from {old.model_name} to {config.model_name}."
        switch = ModelSwitch(success=True, old_model=old.model_name, new_model=config.model_name, message=said)
        return encoder.encode(switch)

    # -- sessions

    async def create_session(self, body: bytes) -> bytes:
        wish = read_body(body, SessionWish)
        with _model_allowed():
            return encoder.encode(_there(await self._ask(SESSIONS, partial(CreateSession, wish)), no_workspace))

    async def sessions(self, workspace_id: str | None) -> bytes:
        return encoder.encode(await self._ask(SESSIONS, partial(SessionsAsked, workspace_id)))

    async def session(self, id: str) -> bytes:  # noqa: A002
        return encoder.encode(_there(await self._ask(SESSIONS, partial(SessionAsked, id)), no_session))

    async def change_session(self, id: str, body: bytes) -> bytes:  # noqa: A002
        change = read_body(body, SessionChange)
        with _model_allowed():
            return encoder.encode(_there(await self._ask(SESSIONS, partial(ChangeSession, id, change)), no_session))

    async def delete_session(self, id: str) -> bytes:  # noqa: A002
        await self._ask(SESSIONS, partial(DeleteSession, id))
        return encoder.encode(Deleted())  # as the original: also if there was none

    async def session_approvals(self, id: str) -> bytes:  # noqa: A002
        found = await self._ask_session(id, partial(RememberedAsked, id))
        return encoder.encode(_there(found, no_session))

    async def forget_session_approval(self, id: str, approval_id: str, by: str) -> bytes:  # noqa: A002
        found = await self._ask_session(id, partial(ForgetApproval, id, approval_id, by))
        return encoder.encode(Deleted(success=_there(found, no_session)))

    async def undo(self, id: str, body: bytes, by: str) -> bytes:  # noqa: A002
        return await self._undone(id, body, by, redo=False)

    async def redo(self, id: str, body: bytes, by: str) -> bytes:  # noqa: A002
        return await self._undone(id, body, by, redo=True)

    async def _undone(self, id: str, body: bytes, by: str, *, redo: bool) -> bytes:  # noqa: A002
        wish = read_body(body or b"{}", UndoWish)
        return encoder.encode(await self._ask_session(id, partial(UndoTurn, wish, redo, by), UNDO_SECONDS))

    async def messages(self, id: str) -> bytes:  # noqa: A002
        return encoder.encode(await _stored((await self._log(id)).messages()))

    async def events(self, id: str, after: int, limit: int) -> bytes:  # noqa: A002
        await self._all_told(id)
        return encoder.encode(await _stored((await self._log(id)).events(after, limit)))

    async def export(self, id: str) -> AsyncIterator[bytes]:  # noqa: A002
        """Lines of JSON: the session's fact, then every event."""
        await self._all_told(id)
        return (await self._log(id)).export()

    # -- clients

    @asynccontextmanager
    async def attach(self, id: str, wire: ClientOutlet) -> AsyncIterator[ClientSeat]:  # noqa: A002
        """A client of this session on this wire, until the block or the client ends."""
        facts = replace(self._facts, capabilities=(*self._facts.capabilities, *await self._found_out()))
        spec = client_spec(self._new_id(), id, wire, facts)
        async with self._registry.get(CLIENTS).lease(spec) as client:
            yield ClientSeat(client)

    # --

    async def _log(self, id: str) -> SessionLog:  # noqa: A002
        fact = _there(await self._ask(SESSIONS, partial(SessionAsked, id)), no_session)
        return SessionLog(self._registry, fact.id)

    async def _all_told(self, id: str) -> None:  # noqa: A002
        """What the session's workspace allows by now stands in the log, if that can be kept."""
        with suppress(KernelError):
            await self._ask_session(id, AuditNews)

    async def _workspace(self, id: str) -> WorkspaceFact:  # noqa: A002
        found: WorkspaceFact | None = await self._ask(WORKSPACES, partial(WorkspaceAsked, id))
        return _there(found, no_workspace)

    async def _change_model(self, config: ModelConfig) -> ModelConfig:
        with _model_allowed():
            return await self._ask(MODELS, partial(ChangeModel, config), MODEL_SECONDS)

    async def _ask_session(
        self, id: str, question: Callable[[Reply[R]], SessionMessage], seconds: float = PATIENCE  # noqa: A002
    ) -> R:
        """Asks the session's actor, which is woken for it."""
        for left in reversed(range(TRIES)):
            session = _there(await self._ask(SESSIONS, partial(WakeSession, id)), no_session)
            try:
                return await _stored(session.ask(question, timeout=seconds))
            except ActorDown:
                if not left:
                    raise
        raise no_session()

    async def _ask(self, key: Key[M], question: Callable[[Reply[R]], Any], seconds: float = PATIENCE) -> R:
        return await _stored(self._registry.get(key).ask(question, timeout=seconds))



@contextmanager
def _model_allowed() -> Iterator[None]:
    try:
        yield
    except ModelTrouble as trouble:
        raise ContractRefusal(422, "MODEL_ERROR", str(trouble)) from None


async def _stored(work: Awaitable[R]) -> R:
    """Whatever the store cannot do now is told."""
    try:
        return await work
    except StoreError as error:
        raise ContractRefusal(503, "INTERNAL", f"Nothing can be stored or read now: {error}") from None


def _there(found: R | None, missing: Callable[[], ContractRefusal]) -> R:
    if found is None:
        raise missing()
    return found
