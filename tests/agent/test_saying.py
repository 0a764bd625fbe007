"""What a turn says and thinks, as its session hears it."""

from typing import Any, cast

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agent.messages import SteersAsked, TurnOrder, TurnSays
from actors.agent.saying import AT_A_STRETCH, LONGEST_THOUGHT, MOST_THOUGHTS, Voice, encodable
from actors.kernel import MailboxFull
from codec.agent.events import LogEvent, MessageFinal, ServerError, Thinking, Token
from tests.plenty import plenty


class Ears:
    """In the place of a session."""

    def __init__(self) -> None:
        self.heard: list[LogEvent] = []
        self.ways = ""
        """Of each event: h(anded) or s(ent)."""
        self.is_full = False

    def hand(self, says: TurnSays) -> None:
        if self.is_full:
            raise MailboxFull(cast("Any", None))
        self._hear(says, "h")

    async def send(self, says: TurnSays) -> None:
        self._hear(says, "s")

    def _hear(self, says: TurnSays, way: str) -> None:
        assert says.turn_id == "t1"
        self.heard.append(says.event)
        self.ways += way

    async def ask(self, asked: Any, *, timeout: float) -> list[Any]:
        assert asked.func is SteersAsked
        assert asked.args == ("t1",)
        assert timeout > 0
        return ["steer"]

    @property
    def thoughts(self) -> list[Any]:
        return [each.message for each in self.heard if isinstance(each, Thinking)]


class Order:
    turn_id = "t1"

    def __init__(self, session: Ears) -> None:
        self.session = session


def voice_of(ears: Ears) -> Voice:
    return Voice(cast("TurnOrder", Order(ears)))


pieces = st.lists(st.text("a \nä\ud800", max_size=4) | st.none(), max_size=12)


@settings(max_examples=plenty(20))
@given(pieces)
def test_the_text_is_its_tokens_and_a_paragraph_begins_only_behind_a_text(said: list[str | None]) -> None:
    """None: a new paragraph."""

    async def talk() -> None:
        ears = Ears()
        voice = voice_of(ears)
        expected, gap = "", False
        for text in said:
            if text is None:
                voice.paragraph()
                gap = bool(expected)
                continue
            await voice.say(text)
            plain = text.replace("\ud800", "?")
            if gap and text:
                plain = f"\n\n{plain.lstrip()}" if plain.strip() else ""
                gap = not plain
            expected += plain
            assert voice.text == expected
        assert "".join(each.token for each in ears.heard if isinstance(each, Token)) == expected
        assert all(isinstance(each, Token) and each.token for each in ears.heard)

    trio.run(talk)


async def test_one_token_of_a_stretch_waits_its_turn_and_so_does_one_that_finds_no_room() -> None:
    ears = Ears()
    voice = voice_of(ears)
    for _ in range(2 * AT_A_STRETCH):
        await voice.say("x")
    assert ears.ways == 2 * ("h" * (AT_A_STRETCH - 1) + "s")
    ears.is_full, ears.ways = True, ""
    await voice.say("x")
    ears.is_full = False
    for _ in range(AT_A_STRETCH):
        await voice.say("x")
    assert ears.ways == "s" + "h" * (AT_A_STRETCH - 1) + "s"


@pytest.mark.parametrize(
    ("thought", "told"),
    [
        (["a b", "c\nd"], ["a bc"]),
        (["a\n\n \nb\n"], ["a", "b"]),
        ([" a \n"], ["a"]),
        (["x" * (LONGEST_THOUGHT - 1)], []),
        (["x" * LONGEST_THOUGHT], ["x" * LONGEST_THOUGHT]),
        (["x" * (LONGEST_THOUGHT + 1) + "\ny\n"], ["x" * LONGEST_THOUGHT, "x", "y"]),
        (["x" * LONGEST_THOUGHT + "\ny\n"], ["x" * LONGEST_THOUGHT, "y"]),
        (["\ud800\n"], ["?"]),
    ],
)
async def test_thoughts_are_told_in_lines_that_are_not_too_long(thought: list[str], told: list[str]) -> None:
    ears = Ears()
    voice = voice_of(ears)
    for piece in thought:
        await voice.think(piece)
    assert ears.thoughts == told
    assert {(each.phase, each.until) for each in ears.heard if isinstance(each, Thinking)} <= {("analyzing", 0)}


async def test_what_is_left_of_a_thought_is_told_before_what_is_said_and_at_the_end() -> None:
    ears = Ears()
    voice = voice_of(ears)
    await voice.think("one")
    await voice.say("a")
    await voice.think("two")
    await voice.final(success=True, seconds=1.23456)
    assert [each.message if isinstance(each, Thinking) else type(each) for each in ears.heard] == [
        "one", Token, "two", MessageFinal,
    ]  # fmt: skip


@pytest.mark.parametrize("length", [1, 7, LONGEST_THOUGHT - 1])
async def test_of_thoughts_so_many_characters_are_told_and_the_line_that_goes_beyond_is_the_last(length: int) -> None:
    ears = Ears()
    voice = voice_of(ears)
    lines = -(-MOST_THOUGHTS // length)
    for _ in range(lines - 1):
        await voice.think("x" * length + "\n")
    assert len(ears.thoughts) == lines - 1
    await voice.think("y" * length + "\n")
    await voice.think("z" * length + "\n")
    await voice.think("z")
    await voice.thought_over()
    assert ears.thoughts[-1] == "y" * length
    assert sum(map(len, ears.thoughts)) >= MOST_THOUGHTS > sum(map(len, ears.thoughts[:-1]))


async def test_what_stood_there_when_there_was_no_more_room_is_not_told_later() -> None:
    ears = Ears()
    voice = voice_of(ears)
    await voice.think(("x" * (LONGEST_THOUGHT - 1) + "\n") * (MOST_THOUGHTS // (LONGEST_THOUGHT - 1) + 1) + "more\nand")
    await voice.thought_over()
    assert {*"".join(ears.thoughts)} == {"x"}


async def test_a_final_word_tells_what_was_used_and_done() -> None:
    ears = Ears()
    voice = voice_of(ears)
    voice.go_on("before", ["read", "run"], ["a.py"])
    voice.tools_used |= dict.fromkeys(["run", "write"])
    voice.files_modified |= {"a.py", "b.py"}
    voice.tokens_used = 7
    voice.paragraph()
    await voice.say("after")
    await voice.error("MODEL_ERROR", "no", recoverable=False, why="x")
    await voice.final(success=False, seconds=1.23456)
    assert [*map(str, await voice.steers())] == ["steer"]
    *_, error, final = ears.heard
    assert isinstance(error, ServerError)
    assert (error.error.code, error.error.message) == ("MODEL_ERROR", "no")
    assert (error.error.recoverable, error.error.details) == (False, {"why": "x"})
    assert isinstance(final, MessageFinal)
    assert final.message == "before\n\nafter"
    told = final.metadata
    assert (told.success, told.tokens_used, told.files_modified) == (False, 7, 2)
    assert (told.tools_used, told.turn_id, told.seconds) == (("read", "run", "write"), "t1", 1.235)


async def test_who_goes_on_with_nothing_begins_no_paragraph() -> None:
    ears = Ears()
    voice = voice_of(ears)
    voice.go_on("", [], [])
    voice.paragraph()
    await voice.say(" a")
    assert voice.text == " a"


@given(st.text())
def test_a_text_that_json_can_carry_stays_as_it_is(text: str) -> None:
    assert encodable(text) == text
    assert encodable(f"{text}\udcff") == f"{text}?"
