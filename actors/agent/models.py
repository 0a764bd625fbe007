"""The models: which there are, and which one new turns use.

Rules
  - The choice is in the store (space `agent/model`, key `current`) before it is answered. Without one, or with one that
    cannot be read, it is `builtin`, which needs nothing.
  - A choice is checked first: the settings allow its server, and that has the model. Several that are checked at once
    are stored in the order in which their checks end, and each is answered with what it replaced.
  - Servers may be slow. So they are asked beside the mailbox and not for long, and all who ask for the list meanwhile
    share one answer.
"""

import logging
from functools import partial

import msgspec
import trio
from msgspec import Struct

from actors.agent.given import ModelTrouble, Providers
from actors.agent.messages import MODELS, ChangeModel, CurrentModelAsked, ExpectModel, ModelsAsked, ModelsMessage
from actors.agent.stored import trouble_told
from actors.kernel import Actor, ChildSpec, Mailbox, Reply
from actors.store import STORE, StoreClient
from codec.agent.models import BUILTIN, ModelConfig, ModelFact, ModelList, ModelRequest

SPACE, CURRENT = "agent/model", "current"
LIST_SECONDS = 6.0
"""For all servers together; each has its own, shorter deadline."""
CHECK_SECONDS = 10.0
MOST_CHECKS = 16
"""At once."""
ASKED = 1_024
DEFAULT = ModelConfig(provider="builtin")
OURS = ModelFact(id=BUILTIN, provider="builtin", url="")

logger = logging.getLogger("troupe.agent")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ModelConfig).decode


class ModelsSeen(Struct, frozen=True):
    models: ModelList


class ModelChecked(Struct, frozen=True):
    config: ModelConfig
    trouble: ModelTrouble | None
    reply: Reply[ModelConfig]


Heard = ModelsMessage | ModelsSeen | ModelChecked


def models_spec(providers: Providers) -> ChildSpec[Heard]:
    return ChildSpec("models", partial(Models, providers), mailbox=partial(Mailbox, ASKED))


class Models(Actor[Heard]):
    def __init__(self, providers: Providers) -> None:
        self._providers = providers
        self._current = DEFAULT
        self._waiting: list[Reply[ModelList]] = []
        """Not empty if and only if a look is under way."""
        self._checks = 0

    async def started(self, kept: object | None) -> None:
        self._store = StoreClient(self.stage.registry.get(STORE))
        stored = await self._store.get(SPACE, CURRENT)
        try:
            self._current = DEFAULT if stored is None else _decode(stored)
        except (msgspec.MsgspecError, UnicodeError):
            logger.warning("the stored choice of a model cannot be read: %s is used", BUILTIN)
        self._say()
        self.stage.registry.claim(MODELS, self.ref)

    def _say(self) -> None:
        self.note = f"{self._current.model_name} ({self._current.provider})"

    async def handle(self, message: Heard) -> None:
        match message:
            case ModelsAsked(reply):
                self._waiting.append(reply)
                if len(self._waiting) == 1:
                    self.run_beside(self._look)
            case ModelsSeen(models):
                waiting, self._waiting = self._waiting, []
                for each in waiting:
                    if not each.abandoned:
                        each.set(models)
            case CurrentModelAsked(current):
                current.set(self._current)
            case ExpectModel(config, expected):
                refused = self._refused(config)
                if refused is None:
                    expected.set(None)
                else:
                    expected.fail(refused)
            case ChangeModel(config, answer):
                self._begin_to_change(config, answer)
            case ModelChecked(config, trouble, answer):
                self._checks -= 1
                await self._change(config, trouble, answer)
            case _:
                self.unknown(message)

    # -- which there are

    async def _look(self) -> None:
        found: tuple[ModelFact, ...] = ()
        silent: tuple[str, ...] = ("The servers of models have not answered in time.",)
        with trio.move_on_after(LIST_SECONDS):
            try:
                facts, unreachable = await self._providers.listed()
                found, silent = tuple(facts), tuple(unreachable)
            except ModelTrouble as trouble:
                silent = (str(trouble),)
            except Exception:  # whatever a server answers, it must not bring us down
                logger.exception("the models could not be listed")
                silent = ("The models of the servers could not be listed. The server's log says why.",)
        if not any(each.provider == BUILTIN for each in found):
            found = (OURS, *found)
        await self.ref.send(ModelsSeen(ModelList(models=found, unreachable=silent)))

    # -- which is used

    def _begin_to_change(self, config: ModelConfig, reply: Reply[ModelConfig]) -> None:
        if (refused := self._refused(config)) is not None:
            reply.fail(refused)
        elif self._checks >= MOST_CHECKS:
            reply.fail(ModelTrouble("Too many models are being checked at once. Try again in a moment."))
        else:
            self._checks += 1
            self.run_beside(self._check, config, reply)

    def _refused(self, config: ModelConfig) -> ModelTrouble | None:
        if config.provider == BUILTIN and config.model_name != BUILTIN:
            why = f"The provider {BUILTIN} has only one model, which is called {BUILTIN}."
            return ModelTrouble(why, recoverable=False)
        try:
            self._providers.expect(config)
        except ModelTrouble as trouble:
            return trouble
        return None

    async def _check(self, config: ModelConfig, reply: Reply[ModelConfig]) -> None:
        trouble: ModelTrouble | None = ModelTrouble(f"The server of {config.provider} has not answered in time.")
        with trio.move_on_after(CHECK_SECONDS):
            try:
                await self._providers.check(ModelRequest(model=config, messages=()))
                trouble = None
            except ModelTrouble as error:
                trouble = error
            except Exception:
                logger.exception("the model could not be checked")
                trouble = ModelTrouble("The model could not be checked. The server's log says why.")
        await self.ref.send(ModelChecked(config, trouble, reply))

    async def _change(self, config: ModelConfig, trouble: ModelTrouble | None, reply: Reply[ModelConfig]) -> None:
        if reply.abandoned:
            return
        if trouble is not None:
            reply.fail(trouble)
            return
        with trouble_told(reply, "The choice"):  # if nobody knows, the old one counts until the next start
            with self.atomic():
                await self._store.put(SPACE, CURRENT, _encode(config))
                before, self._current = self._current, config
            self._say()
            if not reply.abandoned:
                reply.set(before)
