"""What a session does for a turn: it gathers everything that the turn is made from, and knows how far the turn has
come."""

from functools import partial

import msgspec
import trio
from msgspec import Struct, field

from actors.agent.log import SessionLog
from actors.agent.messages import (
    MODELS,
    WORKSPACES,
    CurrentModelAsked,
    ExpectModel,
    PolicyAsked,
    RememberedAsked,
    SessionMessage,
    TurnMessage,
    TurnOrder,
    WorkspaceAsked,
)
from actors.agent.retelling import SoFar
from actors.kernel import ActorRef, KernelError, Registry, in_words
from actors.store import StoreError
from codec.agent.events import ErrorCode, FinalMetadata, MessageFinal, ModelNow, UserMessage
from codec.agent.kept import SessionRow, TurnMark
from codec.agent.models import BUILTIN, ModelConfig
from codec.agent.sessions import SessionFact

PATIENCE = 10.0
CANCEL_GRACE = 0.2
"""Seconds that a cancelled turn has for its last words, until it is killed."""


class NotPrepared(Exception):
    """A turn cannot be made. The text is a sentence for the user."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class CurrentTurn(Struct, eq=False):
    """The turn of a session."""

    mark: TurnMark
    message: UserMessage
    so_far: SoFar = field(default_factory=SoFar)
    actor: ActorRef[TurnMessage] | None = None
    preparing: trio.CancelScope = field(default_factory=trio.CancelScope)
    failed: NotPrepared | None = None
    """Why it ends without its own last word. None: it is cancelled."""
    resumed: bool = False
    """Whether it was suspended."""
    approval_seconds: float = 0
    """How long its requests wait for an answer, by the policy that it has. 0: for ever."""

    @property
    def id(self) -> str:
        return self.mark.turn_id


def final(
    mark: TurnMark, so_far: SoFar, now: float, *, cancelled: bool = False, interrupted: bool = False
) -> MessageFinal:
    """The end of a turn that has not said its own."""
    return MessageFinal(
        message=so_far.text,
        metadata=FinalMetadata(
            success=False,
            files_modified=len(so_far.files),
            tools_used=tuple(so_far.tools),
            cancelled=cancelled,
            interrupted=interrupted,
            turn_id=mark.turn_id,
            seconds=max(0.0, round(now - mark.began, 3)) if mark.began else 0.0,
        ),
    )


def model_of(fact: SessionFact, current: ModelConfig) -> ModelConfig:
    """The model of this session: its own, and the current one for all that it does not say."""
    provider = fact.model_provider or current.provider
    ours = provider == current.provider
    default = current.model_name if ours else BUILTIN if provider == BUILTIN else ""
    named = fact.model_name or default
    chosen = {
        "provider": provider,
        "model_name": named,
        "url": fact.model_url or (current.url if ours else ""),
        "context_window": fact.context_window or current.context_window,
        "temperature": current.temperature if fact.temperature is None else fact.temperature,
        "display_name": current.display_name if (provider, named) == (current.provider, current.model_name) else None,
    }
    try:
        return msgspec.convert(chosen, ModelConfig)
    except msgspec.ValidationError as error:
        raise NotPrepared("MODEL_ERROR", f"This session's model cannot be used: {error}. Choose another one.") from None


async def expected_model(registry: Registry, fact: SessionFact) -> ModelConfig | None:
    """The model that this session would use now. None: what it says of one is too little or too odd for a turn, as is
    told when one begins. Raises ModelTrouble if the settings do not allow it."""
    models = registry.get(MODELS)
    try:
        model = model_of(fact, await models.ask(CurrentModelAsked, timeout=PATIENCE))
    except NotPrepared:
        return None
    if fact.model_provider is not None or fact.model_url is not None:
        await models.ask(partial(ExpectModel, model), timeout=PATIENCE)
    return model


def first_row(fact: SessionFact, model: ModelConfig | None) -> SessionRow:
    """Of a session that is new: its first client is told the model, too."""
    if model is None:
        return SessionRow(fact=fact)
    now = ModelNow(provider=model.provider, model_name=model.model_name)
    return SessionRow(fact=fact, model=now, context_window=model.context_window)


async def order(
    registry: Registry,
    session: ActorRef[SessionMessage],
    log: SessionLog,
    row: SessionRow,
    turn: CurrentTurn,
) -> TurnOrder:
    """All that the turn is made from. Raises NotPrepared."""
    fact = row.fact
    try:
        workspaces, models = registry.get(WORKSPACES), registry.get(MODELS)
        workspace = await workspaces.ask(partial(WorkspaceAsked, fact.workspace_id), timeout=PATIENCE)
        policy = await workspaces.ask(partial(PolicyAsked, fact.workspace_id), timeout=PATIENCE)
        current = await models.ask(CurrentModelAsked, timeout=PATIENCE)
        remembered = await workspaces.ask(partial(RememberedAsked, fact.workspace_id), timeout=PATIENCE)
        before = await log.entries(row.compacted, turn.mark.seq - 1)
        said = await log.entries(turn.mark.seq) if turn.resumed else []
    except (KernelError, StoreError) as error:
        raise NotPrepared("INTERNAL", f"The turn could not be begun: {in_words(error)}.") from error
    if workspace is None or policy is None or remembered is None:
        raise NotPrepared("WORKSPACE_NOT_FOUND", "The workspace of this session is not registered any more.")
    if workspace.missing:
        raise NotPrepared("WORKSPACE_NOT_FOUND", f"The folder {workspace.path} is not there now.")
    return TurnOrder(
        turn_id=turn.id,
        session=session,
        fact=fact,
        workspace=workspace,
        policy=policy,
        model=model_of(fact, current),
        message=turn.message,
        transcript=before,
        remembered=(*row.remembered, *remembered.approvals),
        resumed=row.pending if turn.resumed else (),
        said=said,
    )
