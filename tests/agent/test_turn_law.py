"""Whatever a model says, and whenever a turn is cancelled."""

from collections.abc import Sequence
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agent.answering import HearingLimits
from actors.agent.budget import room, tools_weight, weights
from actors.agent.calling import CallLimits
from actors.agent.conversing import TurnLimits
from actors.agent.hand_tools import HAND_TOOLS
from actors.agent.history import history
from actors.agent.tools import TOOLS
from actors.kernel.testing import run_in_virtual_time, run_schedule
from codec.agent.action_events import PatchProposed
from codec.agent.events import ContextUsage, MessageFinal, ServerError, UserMessage
from codec.agent.models import (
    CalledTool,
    Finished,
    ModelConfig,
    ModelTrouble,
    SaidText,
    SaidThought,
    ToolCall,
    UsedTokens,
)
from tests.agent.hands_kit import MemoryHands, means, refuses
from tests.agent.turn_kit import STOP, Act, Heard, MemoryTree, Script, call, entries, faults, turn, unpaired, whole
from tests.plenty import plenty

FILES = {
    "src/auth.py": "import db\n\n\ndef login(user):\n    '''Lets a user in.'''\n    return db.find(user)\n",
    "src/app.py": "from auth import login\n" * 200,
    ".env": "API_KEY=hunter2hunter2\n",
}
LIMITS = TurnLimits(
    rounds=3,
    seconds=600,
    hearing=HearingLimits(first_piece=60, next_piece=20, characters=300, calls=3),
    calls=CallLimits(seconds=5, characters=3_000, same=2),
)

texts = st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
good_arguments = st.sampled_from(
    [
        {"file_path": "src/auth.py"},
        {"file_path": ".env"},
        {"file_path": "../../etc/passwd"},
        {"query": "login"},
        {"name": "login"},
        {"folder": ""},
        {"steps": [{"description": "Look"}], "current_step": 1},
        {"file_path": "src/auth.py", "content": "import db\n"},
        {"file_path": ".git/hooks/x", "content": "#!/bin/sh\n"},
        {"file_path": ".env", "content": "API_KEY=***\n"},
        {"edits": [{"file_path": "src/auth.py", "old": "user", "new": "who"}]},
        {"edits": [{"file_path": "src/auth.py", "old": "import db", "new": "import sys, db"}]},
        {"diff": "--- a/src/auth.py\n+++ b/src/auth.py\n@@ -1 +1 @@\n-import db\n+import base\n"},
        {"command": "make"},
        {"argv": ["make", "all"], "folder": "src"},
    ]
)
calls = st.builds(
    lambda name, arguments: CalledTool(ToolCall(id="same", name=name, arguments=arguments)),
    st.sampled_from([*TOOLS, *HAND_TOOLS]) | texts,
    good_arguments | json_values,
)
acts = st.one_of(
    st.builds(SaidText, texts),
    st.builds(SaidThought, texts),
    calls,
    calls,
    st.builds(UsedTokens, prompt=st.integers(0, 50), completion=st.integers(0, 50)),
    st.just(STOP),
    st.just(Finished("length")),
    st.builds(ModelTrouble, st.just("It is gone."), recoverable=st.booleans()),
    st.just(trio.sleep_forever),
)
answers = st.lists(st.lists(acts, max_size=6) | st.lists(calls, min_size=1, max_size=5).map(lambda made: [*made, STOP]))


def check(heard: Heard, script: Script) -> None:
    final = heard.final
    assert final.message == heard.text
    assert unpaired(heard.events) == []
    said = UserMessage(message="What does login do?", message_id="m", turn_id="t1")
    for stopped in range(len(heard.events) + 1):  # wherever it is cut off, the history is a request
        past = history(entries([said, *heard.events[:stopped]]))
        assert faults(past.messages) == []
    for request in script.requests:
        assert faults(request.messages) == []
        assert weights(request.messages) + tools_weight(request.tools) <= room(request.model.context_window)
        assert "hunter2" not in repr(request.messages)
    assert "hunter2" not in repr([event for event in heard.events if not isinstance(event, PatchProposed)])


@pytest.mark.slow
@given(answers, st.sampled_from([2_048, 16_384]), st.sampled_from([None, "plan", "ask", "auto"]))
@settings(max_examples=plenty(70), deadline=None)
def test_whatever_a_model_says_a_turn_ends_once_its_calls_are_paired_and_its_history_is_a_request(
    said: list[list[Act]], window: int, mode: str | None
) -> None:
    async def play() -> None:
        script, tree = Script(*said, [SaidText("Done."), STOP]), MemoryTree(FILES)
        model = ModelConfig(provider="ollama", model_name="odd", context_window=window)
        given: dict[str, Any] = {"limits": LIMITS, "model": model}
        if mode is not None:  # without a mode the turn has no hands
            heard = Heard(answers=lambda request: [refuses(request)])
            hands = MemoryHands(tree, forbidden=mode == "plan")
            given |= {"mode": mode, "heard": heard, "hands": hands, "acting": means()}
        heard = await whole("What does login do?", script, tree, **given)
        check(heard, script)
        assert heard.requests == {}
        assert tree.files[".env"] == FILES[".env"]
        assert mode == "auto" or tree.files == FILES
        assert not any(path.startswith(".git") for path in tree.files)
        assert len(script.requests) <= LIMITS.rounds + 1
        # a call that the policy refuses fails, and not its turn
        failed = any(each.error.code != "POLICY_VIOLATION" for each in heard.of(ServerError))
        assert heard.final.metadata.success <= (not failed and bool(heard.text))

    run_in_virtual_time(play)


class Stopper(trio.abc.Instrument):
    """Cancels a turn after the n-th step of its work."""

    def __init__(self, step: int | None) -> None:
        self.steps = 0
        self._step = step
        self.heard: Heard | None = None
        self.has_ended_itself = False

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if "t1" not in task.name:
            return
        self.steps += 1
        if self._step is None or self.steps < self._step:
            return
        if self.heard is not None and self.heard.turn is not None:
            self._step = None
            self.heard.turn.begin_stop(0.2)


def busy() -> Script:
    return Script(
        [SaidThought("Let me see.\n"), SaidText("I look."), call("read_file", file_path="src/auth.py"), STOP],
        [call("search_symbols", name="login"), call("update_plan", steps=[{"description": "Look"}]), STOP],
        [SaidText("It lets "), SaidText("a user in."), STOP],
    )


async def cancelled_after(step: int | None) -> Stopper:
    stopper, script = Stopper(step), busy()
    trio.lowlevel.add_instrument(stopper)
    try:
        async with turn("What does login do?", script, FILES, instrument=stopper) as (heard, _):
            assert heard.turn is not None
            await heard.turn.wait_stopped()
            await trio.testing.wait_all_tasks_blocked()
            told = list(heard.events)
            assert script.open == 0
            await trio.sleep(3600)
            assert heard.events == told
        assert len(heard.of(MessageFinal)) <= 1
        stopper.has_ended_itself = bool(heard.of(MessageFinal))
        said = UserMessage(message="What does login do?", message_id="m", turn_id="t1")
        assert faults(history(entries([said, *told])).messages) == []
    finally:
        trio.lowlevel.remove_instrument(stopper)
    return stopper


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_turn_that_is_cancelled_at_any_await_leaves_nothing_and_says_nothing_more(seed: int) -> None:
    steps = run_schedule(seed, cancelled_after, None).steps
    assert steps > 40
    ends = [run_schedule(seed, cancelled_after, step).has_ended_itself for step in range(1, steps)]
    assert ends == sorted(ends)  # who is cancelled early says no last word, and who is cancelled last has said it
    assert ends.count(True) < 10


HANGS: Sequence[tuple[str, list[Any]]] = [
    ("before its first piece", [trio.sleep_forever]),
    ("in the middle", [SaidText("I "), trio.sleep_forever]),
    ("before its end", [SaidText("I am done."), trio.sleep_forever]),
]


@pytest.mark.parametrize(("when", "said"), HANGS, ids=[when for when, _ in HANGS])
def test_a_model_that_hangs_is_a_trouble_of_the_model_and_what_it_said_is_kept(when: str, said: list[Act]) -> None:
    async def play() -> None:
        heard = await whole("Hm?", Script(said), limits=LIMITS)
        (error,) = heard.of(ServerError)
        assert (error.error.code, error.error.recoverable) == ("MODEL_ERROR", True)
        assert "seconds" in error.error.message
        assert not heard.final.metadata.success
        assert heard.final.message == "".join(each.text for each in said if isinstance(each, SaidText))

    run_in_virtual_time(play)


def test_a_stream_that_stays_open_behind_its_end_is_closed_and_its_late_count_is_taken() -> None:
    async def play() -> None:
        script = Script([SaidText("Yes."), STOP, UsedTokens(prompt=70, completion=7), trio.sleep_forever])
        heard = await whole("Hm?", script, limits=LIMITS)
        assert heard.final.message == "Yes."
        assert heard.final.metadata.success
        assert heard.of(ContextUsage)[-1].used == 77

    run_in_virtual_time(play)


def test_a_disk_that_hangs_from_the_beginning_is_given_up_and_told() -> None:
    async def play() -> None:
        tree = MemoryTree(FILES)
        tree.hangs = True
        heard = await whole("What does login do?", Script([SaidText("I cannot read."), STOP]), tree, limits=LIMITS)
        assert [error.error.code for error in heard.of(ServerError)] == ["RETRIEVAL_FAILED", "RETRIEVAL_FAILED"]
        assert heard.final.metadata.success
        assert heard.final.metadata.seconds == 40

    run_in_virtual_time(play)


def test_a_disk_that_hangs_ends_neither_the_turn_nor_its_retrieval() -> None:
    async def play() -> None:
        tree = MemoryTree(FILES)
        script = Script([call("read_file", file_path="src/auth.py"), STOP], [SaidText("I cannot read."), STOP])

        async def stuck() -> None:
            tree.hangs = True

        script.answers[0].insert(0, stuck)
        heard = await whole("Hm?", script, tree, limits=LIMITS)
        assert "given up" in script.requests[1].messages[-1].content
        assert heard.final.message == "I cannot read."

    run_in_virtual_time(play)
