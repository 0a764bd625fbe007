"""A turn: everything between a message of the user and the MessageFinal that answers it.

    session ── TurnOrder ──> AgentTurn ── TurnSays ──> session
                   a task beside it does the work; whatever must die with the turn lives in that task:
                   the model's stream, the reading of files

Rules
  - It says, in this order: thinking (analyzing), the retrieval's status (retrieving), then for each round the tokens of
    the model and its calls (executing); at the end one MessageFinal, and nothing after it.
  - A model that fails, hangs or breaks off is no crash: server.error MODEL_ERROR, then a MessageFinal without success.
  - Whatever a model calls, and with whatever arguments, is told to it as the tool's failure, within limits
    (calling.py); then the turn ends with words (conversing.py).
  - Between two rounds it reads what the user says meanwhile to steer it, and what the editor shows now.
  - A cancelled turn just ends: its session takes nothing from it any more, and says the MessageFinal. Nothing is left,
    because the stream's block is closed by the cancellation itself.
  - It ends with its session.

    conversing.py   the loop        answering.py   one answer of a model      calling.py, tools.py   calls
    gathering.py    what is read    prompt.py      what the model is told     history.py             what came before
    budget.py, compaction.py        what fits      saying.py                  what the session is told
"""

from collections.abc import Sequence
from functools import partial

import trio

from actors.agent.budget import room
from actors.agent.calling import Calls
from actors.agent.conversing import Conversation, NoRoom, TurnLimits
from actors.agent.doubles import without_doubles
from actors.agent.gathering import agents_file, editor_materials, retrieve
from actors.agent.given import FileRefused, Providers, Tree, Trees
from actors.agent.history import history
from actors.agent.messages import ContextChanged, TurnMessage, TurnOrder
from actors.agent.prompt import Command, changes, command_of, fitted, plain_words, system_text, with_named
from actors.agent.readable import ReadableTree
from actors.agent.saying import Voice
from actors.kernel import Actor, ChildSpec, Down, Restart
from codec.agent.events import RetrieveStatus
from codec.agent.keywords import keywords, names_or_words
from codec.agent.material import STEERED, UPDATED, Material, told
from codec.agent.models import ModelMessage, ModelTrouble
from codec.words import listed

READING_SECONDS, RETRIEVAL_SECONDS = 20.0, 20.0


class AgentTurn(Actor[TurnMessage]):
    def __init__(self, order: TurnOrder, providers: Providers, trees: Trees, limits: TurnLimits) -> None:
        self._order = order
        self._providers = providers
        self._trees = trees
        self._limits = limits
        self._voice = Voice(order)
        self._context = self._told = order.message.context
        """What the editor shows, and what of it the model has been told."""

    @property
    def called(self) -> str:
        return f"turn of {self._order.fact.title or self._order.fact.id}"

    async def started(self, kept: object | None) -> None:
        self.monitor(self._order.session)
        self.run_beside(self._work)

    async def handle(self, message: TurnMessage) -> None:
        match message:
            case ContextChanged(context):
                self._context = context
            case _:
                self.unknown(message)

    async def down(self, down: Down) -> None:
        self.finish()

    # -- the work, in a task of its own

    async def _work(self) -> None:
        began = trio.current_time()
        success = False
        try:
            success = await self._turn()
        except ModelTrouble as trouble:
            await self._voice.thought_over()
            await self._voice.error("MODEL_ERROR", str(trouble), recoverable=trouble.recoverable)
        except NoRoom as error:
            window = self._order.model.context_window
            await self._voice.error("INVALID_MESSAGE", str(error), needed=error.needed, window=window)
        await self._voice.final(success=success, seconds=trio.current_time() - began)
        self.finish()

    async def _turn(self) -> bool:
        order, voice = self._order, self._voice
        command = command_of(order.message.message, order.message.context)
        tree = ReadableTree(self._trees.tree(order.workspace.path), order.policy)
        await voice.thinking("analyzing", "Reading your message and what the editor shows")
        now = await self._question(tree, command)
        system = ModelMessage(role="system", content=system_text(order.workspace.name, command))
        await voice.thinking("planning", f"Asking {order.model.display_name or order.model.model_name}")
        calls = Calls(order.turn_id, tree, voice, self._limits.calls)
        talk = Conversation(order.model, self._providers.stream, voice, calls, self._limits, self._between)
        return await talk.run(system, history(order.transcript), now)

    async def _question(self, tree: Tree, command: Command | None) -> ModelMessage:
        """The user's words with what belongs to them: material takes half of the room at most."""
        message, most = self._order.message, room(self._order.model.context_window)
        shown, rules = tuple[Material, ...](), tuple[Material, ...]()
        with trio.move_on_after(READING_SECONDS) as reading:
            rules = await agents_file(tree)
            shown = await editor_materials(tree, with_named(message.message, message.context), command)
        if reading.cancelled_caught:
            sentence = f"The files that your editor shows could not be read within {READING_SECONDS:g} seconds."
            await self._voice.error("RETRIEVAL_FAILED", sentence)
        around, agents = fitted(shown, most // 4), fitted(rules, most // 8)
        found = await self._retrieved(tree, command, around, most // 8)
        words = plain_words(message.message, command)
        return ModelMessage(role="user", content=told(words, (*agents, *around, *found)))

    async def _retrieved(
        self, tree: Tree, command: Command | None, shown: Sequence[Material], most: int
    ) -> Sequence[Material]:
        """The files that are likely about the question. /explain is about what is shown, and about nothing else."""
        question = self._order.message.message
        words = names_or_words(keywords(question))
        if not words or (command == "/explain" and shown):
            return ()
        await self._voice.thinking("retrieving", f"Looking for {listed(words[:4])}")
        try:
            with trio.fail_after(RETRIEVAL_SECONDS):
                found = await retrieve(tree, question, most)
        except FileRefused as error:
            await self._voice.error("RETRIEVAL_FAILED", str(error))
            return ()
        except trio.TooSlowError:
            sentence = f"The search took longer than {RETRIEVAL_SECONDS:g} seconds and was given up."
            await self._voice.error("RETRIEVAL_FAILED", sentence)
            return ()
        if found is None:
            return ()
        status = RetrieveStatus(
            stage="text_search", results_count=found.count, message=found.sentence, items=found.items
        )
        await self._voice.event(status)
        return without_doubles(found.materials, shown)

    async def _between(self) -> Sequence[ModelMessage]:
        messages = [
            ModelMessage(role="user", content=f"{STEERED}\n\n{told(steer.message, ())}")
            for steer in await self._voice.steers()
        ]
        before, self._told = self._told, self._context
        if updates := changes(before, self._told):
            most = room(self._order.model.context_window) // 8
            messages.append(ModelMessage(role="user", content=told(UPDATED, fitted(updates, most))))
        return messages


def turn_spec(
    order: TurnOrder, providers: Providers, trees: Trees, limits: TurnLimits | None = None
) -> ChildSpec[TurnMessage]:
    """A child of the crowd TURNS."""
    make = partial(AgentTurn, order, providers, trees, limits or TurnLimits())
    return ChildSpec(order.turn_id, make, restart=Restart.TEMPORARY, grace=1.0)
