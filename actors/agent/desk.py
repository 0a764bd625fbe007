"""The agent for its port: it reads what is asked, passes it to the actor that knows, and answers in JSON.

The transport knows no actors and no messages: it gets bytes from here. A refusal is a ContractRefusal (the client's
mistake, or a thing that is not there) or a KernelError (nobody is there, or has time); the text of either can be shown.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import msgspec

from actors.agent.client import ClientOutlet, ClientSeat, ServerFacts, client_spec
from actors.agent.given import FileRefused, ModelTrouble
from actors.agent.log import SessionLog
from actors.agent.messages import (
    CLIENTS,
    MODELS,
    SESSIONS,
    WORKSPACES,
    ChangeModel,
    ChangePolicy,
    ChangeSession,
    CreateSession,
    CurrentModelAsked,
    DeleteSession,
    ModelsAsked,
    PolicyAsked,
    RegisterWorkspace,
    SessionAsked,
    SessionsAsked,
    WorkspaceAsked,
    WorkspacesAsked,
)
from actors.kernel import Key, Registry, Reply
from actors.store import StoreError
from codec.agent.client_messages import FileChanges
from codec.agent.models import ModelConfig, ModelSwitch
from codec.agent.reading import read_body
from codec.agent.refusing import ContractRefusal, no_session, no_workspace
from codec.agent.sessions import Deleted, SessionChange, SessionWish
from codec.agent.workspaces import AgentHealth, IndexStatus, PolicyChange, WorkspaceFact, WorkspaceWish

PATIENCE = 10.0
MODEL_SECONDS = 15.0
"""For what has to ask other servers."""

encoder = msgspec.json.Encoder()

M = TypeVar("M")
R = TypeVar("R")


class AgentDesk:
    def __init__(self, registry: Registry, new_id: Callable[[], str], facts: ServerFacts) -> None:
        """`new_id`: for the actors of clients."""
        self._registry = registry
        self._new_id = new_id
        self._facts = facts

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

    async def index_status(self, id: str) -> bytes:  # noqa: A002
        fact = await self._workspace(id)
        known = {name: getattr(fact, name) for name in IndexStatus.__struct_fields__ if hasattr(fact, name)}
        return encoder.encode(IndexStatus(workspace_id=fact.id, errors=(NO_INDEX,), **known))

    async def index_changed(self, id: str, body: bytes) -> bytes:  # noqa: A002
        read_body(body, FileChanges)
        return await self.index_status(id)

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
        return encoder.encode(_there(await self._ask(SESSIONS, partial(CreateSession, wish)), no_workspace))

    async def sessions(self, workspace_id: str | None) -> bytes:
        return encoder.encode(await self._ask(SESSIONS, partial(SessionsAsked, workspace_id)))

    async def session(self, id: str) -> bytes:  # noqa: A002
        return encoder.encode(_there(await self._ask(SESSIONS, partial(SessionAsked, id)), no_session))

    async def change_session(self, id: str, body: bytes) -> bytes:  # noqa: A002
        change = read_body(body, SessionChange)
        return encoder.encode(_there(await self._ask(SESSIONS, partial(ChangeSession, id, change)), no_session))

    async def delete_session(self, id: str) -> bytes:  # noqa: A002
        await self._ask(SESSIONS, partial(DeleteSession, id))
        return encoder.encode(Deleted())  # as the original: also if there was none

    async def messages(self, id: str) -> bytes:  # noqa: A002
        return encoder.encode(await _stored((await self._log(id)).messages()))

    async def events(self, id: str, after: int, limit: int) -> bytes:  # noqa: A002
        return encoder.encode(await _stored((await self._log(id)).events(after, limit)))

    async def export(self, id: str) -> AsyncIterator[bytes]:  # noqa: A002
        """Lines of JSON: the session's fact, then every event."""
        return (await self._log(id)).export()

    # -- clients

    @asynccontextmanager
    async def attach(self, id: str, wire: ClientOutlet) -> AsyncIterator[ClientSeat]:  # noqa: A002
        """A client of this session on this wire, until the block or the client ends."""
        spec = client_spec(self._new_id(), id, wire, self._facts)
        async with self._registry.get(CLIENTS).lease(spec) as client:
            yield ClientSeat(client)

    # --

    async def _log(self, id: str) -> SessionLog:  # noqa: A002
        fact = _there(await self._ask(SESSIONS, partial(SessionAsked, id)), no_session)
        return SessionLog(self._registry, fact.id)

    async def _workspace(self, id: str) -> WorkspaceFact:  # noqa: A002
        found: WorkspaceFact | None = await self._ask(WORKSPACES, partial(WorkspaceAsked, id))
        return _there(found, no_workspace)

    async def _change_model(self, config: ModelConfig) -> ModelConfig:
        try:
            return await self._ask(MODELS, partial(ChangeModel, config), MODEL_SECONDS)
        except ModelTrouble as trouble:
            raise ContractRefusal(422, "MODEL_ERROR", str(trouble)) from None

    async def _ask(self, key: Key[M], question: Callable[[Reply[R]], Any], seconds: float = PATIENCE) -> R:
        return await _stored(self._registry.get(key).ask(question, timeout=seconds))


NO_INDEX = "There is no index yet: searches read the files."


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
