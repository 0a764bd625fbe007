"""A turn: everything between a message of the user and the MessageFinal that answers it.

    session ── TurnOrder ──> AgentTurn ── TurnSays, TurnAsks, TurnKeeps ──> session
                   a task beside it does the work; whatever must die with the turn lives in that task:
                   the model's stream, the reading of files, waiting for an answer

Rules
  - It says, in this order: thinking (analyzing), the retrieval's status (retrieving), then for each round the tokens of
    the model and its calls (executing); at the end one MessageFinal, and nothing after it.
  - A model that fails, hangs or breaks off is no crash: server.error MODEL_ERROR, then a MessageFinal without success.
  - A faulty call, whatever the model calls and with whatever arguments, is reported to the model as the tool's failure,
    within limits (calling.py); then the turn ends with words (conversing.py).
  - Between two rounds it reads what the user says meanwhile to steer it, and what the editor shows now.
  - The policy, and people's answers, decide what it does with the workspace (acting.py). The answers come to the
    mailbox (RequestSettled), and the task waits for them.
  - A turn that was suspended by the end of the server takes up what it has said (resuming.py), acts upon the answers
    that have come since, and goes on with its model.
  - A cancelled turn just ends: its session takes nothing from it any more, and says the MessageFinal. Nothing is left,
    because the stream's block is closed by the cancellation itself, and nothing is begun that the session did not keep.
  - It ends with its session.

    conversing.py   the loop        answering.py   one answer of a model      calling.py, tools.py   calls
    gathering.py    what is read    prompt.py      what the model is told     history.py             what came before
    budget.py, compaction.py        what fits      saying.py                  what the session is told
    acting.py                       what is done   resuming.py                a turn that was suspended
"""

from collections.abc import Sequence
from functools import partial

import trio

from actors.agent.acting import Acting, ActingMeans, hands_of
from actors.agent.asking import Answers, NotHeard
from actors.agent.budget import room
from actors.agent.calling import Calls
from actors.agent.conversing import Conversation, NoRoom, TurnLimits
from actors.agent.doubles import without_doubles
from actors.agent.gathering import UNREADABLE, agents_file, editor_materials, retrieve
from actors.agent.given import FileRefused, Providers, Tree, Trees
from actors.agent.hand_tools import offered
from actors.agent.history import CUT_OFF, history
from actors.agent.index.indexed import IndexedTree
from actors.agent.index.searching import IndexAsker
from actors.agent.messages import ContextChanged, RequestSettled, TurnMessage, TurnOrder
from actors.agent.outcomes import failed
from actors.agent.prompt import Command, changes, command_of, fitted, plain_words, system_text, with_named
from actors.agent.readable import ReadableTree
from actors.agent.resuming import SuspendedTurn, by_call, suspended
from actors.agent.saying import Voice
from actors.agent.tools import SPECS
from actors.kernel import Actor, ActorDown, ChildSpec, Down, Restart
from codec.agent.events import RetrieveStatus
from codec.agent.keywords import keywords, names_or_words
from codec.agent.material import STEERED, UPDATED, Material, told
from codec.agent.models import ModelMessage, ModelTrouble
from codec.words import lasting, listed

READING_SECONDS, RETRIEVAL_SECONDS = 20.0, 20.0


class AgentTurn(Actor[TurnMessage]):
    def __init__(
        self, order: TurnOrder, providers: Providers, trees: Trees, limits: TurnLimits, acting: ActingMeans | None
    ) -> None:
        self._order = order
        self._providers = providers
        self._trees = trees
        self._limits = limits
        self._acting = acting
        self._voice = Voice(order)
        self._answers = Answers()
        self._answers.expect(request.request_id for request in order.resumed)
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
            case RequestSettled(request):
                self._answers.settle(request)
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
        except NotHeard:
            self.finish()
            return
        except ActorDown as error:
            if error.path != self._order.session.path:
                raise
            self.finish()  # a session that ends while it is asked something takes its turn with it, too
            return
        await self._voice.final(success=success, seconds=trio.current_time() - began)
        self.finish()

    async def _turn(self) -> bool:
        order, voice = self._order, self._voice
        command = command_of(order.message.message, order.message.context)
        asker = IndexAsker(self.stage.registry, order.workspace.id, order.policy)
        tree = IndexedTree(ReadableTree(self._trees.tree(order.workspace.path), order.policy), asker)
        acting = self._hands(tree)
        mode, has_hands = order.fact.mode, acting is not None
        system = system_text(order.workspace.name, command, mode, has_hands=has_hands)
        if order.resumed:
            before = suspended(order)
            calls = Calls(order.turn_id, tree, voice, self._limits.calls, acting, before=before.made)
            before = await self._taken_up(before, calls, acting)
            now, past, since = await self._question(tree, command, quietly=True), before.past, before.since
            since = (*since, *await self._between())
        else:
            await voice.thinking("analyzing", "Reading your message and what the editor shows")
            if acting is not None:
                await acting.begin()
            calls = Calls(order.turn_id, tree, voice, self._limits.calls, acting)
            now, past, since = await self._question(tree, command), history(order.transcript), ()
        await voice.thinking("planning", f"Asking {order.model.display_name or order.model.model_name}")
        tools = (offered(mode, has_hands=has_hands), SPECS)
        talk = Conversation(order.model, self._providers.stream, voice, calls, self._limits, self._between, tools)
        return await talk.run(ModelMessage(role="system", content=system), past, now, since)

    def _hands(self, tree: Tree) -> Acting | None:
        if self._acting is None:
            return None
        hands, registry = self._trees.hands(self._order.workspace.path), self.stage.registry
        return hands_of(self._acting, self._order, registry, self.ref, self._voice, self._answers, tree, hands)

    async def _taken_up(self, before: SuspendedTurn, calls: Calls, acting: Acting | None) -> SuspendedTurn:
        """Acts upon what was answered while the turn was suspended. A call that was broken off is told as such."""
        self._voice.go_on(before.text, before.tools_used, before.files_modified)
        await self._voice.thinking("executing", "Going on with what was answered")
        answered = by_call(self._order.resumed)
        for id, call in before.open.items():  # noqa: A001 - as in ToolCall
            requests = answered.get(id)
            done = failed(CUT_OFF) if requests is None or acting is None else await acting.resumed(requests)
            before = before.with_result(id, await calls.tell(call, done))
        return before

    async def _question(self, tree: Tree, command: Command | None, *, quietly: bool = False) -> ModelMessage:
        """The user's words with what belongs to them: material takes half of the room at most. `quietly`: nothing is
        searched, for the model has what it called since."""
        message, most = self._order.message, room(self._order.model.context_window)
        shown, rules = tuple[Material, ...](), tuple[Material, ...]()
        with trio.move_on_after(READING_SECONDS) as reading:
            rules = await agents_file(tree)
            shown = await editor_materials(tree, with_named(message.message, message.context), command)
        if reading.cancelled_caught:
            sentence = f"The files that your editor shows could not be read within {lasting(READING_SECONDS)}."
            await self._voice.error("RETRIEVAL_FAILED", sentence)
        for each in shown:
            if each.why == UNREADABLE:
                await self._voice.error("RETRIEVAL_FAILED", f"@{each.source} is not shown to the model: {each.text}")
        around, agents = fitted(shown, most // 4), fitted(rules, most // 8)
        found = () if quietly else await self._retrieved(tree, command, around, most // 8)
        words = plain_words(message.message, command)
        return ModelMessage(role="user", content=told(words, (*agents, *around, *found)))

    async def _retrieved(
        self, tree: Tree, command: Command | None, shown: Sequence[Material], most: int
    ) -> Sequence[Material]:
        """The files that are likely about the question. /explain is about what is shown, and about nothing else."""
        question = self._order.message.message
        words = names_or_words(keywords(question), question)
        if not words or (command == "/explain" and shown):
            return ()
        await self._voice.thinking("retrieving", f"Looking for {listed(words[:4])}")
        try:
            with trio.fail_after(RETRIEVAL_SECONDS):
                found = await retrieve(tree, question, most, self._order.message.context)
        except FileRefused as error:
            await self._voice.error("RETRIEVAL_FAILED", str(error))
            return ()
        except trio.TooSlowError:
            sentence = f"The search took longer than {lasting(RETRIEVAL_SECONDS)} and was given up."
            await self._voice.error("RETRIEVAL_FAILED", sentence)
            return ()
        if found is None:
            return ()
        for each in found.stages:
            items = found.items if each is found.stages[-1] else ()
            status = RetrieveStatus(stage=each.stage, results_count=each.count, message=each.sentence, items=items)
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
    order: TurnOrder,
    providers: Providers,
    trees: Trees,
    limits: TurnLimits | None = None,
    acting: ActingMeans | None = None,
) -> ChildSpec[TurnMessage]:
    """A child of the crowd TURNS. Without `acting` it only reads."""
    make = partial(AgentTurn, order, providers, trees, limits or TurnLimits(), acting)
    return ChildSpec(order.turn_id, make, restart=Restart.TEMPORARY, grace=1.0)
