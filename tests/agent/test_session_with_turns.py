"""Sessions with turns as they are: the real turn over a scripted model and files in memory, and the real session."""

from collections.abc import Awaitable, Callable
from functools import partial

import trio

from actors.agent.messages import TurnOrder
from actors.agent.turn import turn_spec
from actors.kernel.testing import run_in_virtual_time
from codec.agent.models import Finished, ModelConfig, SaidText
from tests.agent.session_kit import Screen, Stay, stay, until
from tests.agent.turn_kit import REMOTE, MemoryTree, MemoryTrees, Script, call

Test = Callable[[Stay, str, Screen], Awaitable[None]]
FILES = {"src/app.py": "def greet(name):\n    return f'hello {name}'\n", "README.md": "# Greeter\n"}


def play(test: Test, script: Script, model: ModelConfig = REMOTE) -> None:
    async def playing() -> None:
        trees = MemoryTrees(MemoryTree(FILES))

        def make_turn(order: TurnOrder) -> object:
            return turn_spec(order, script, trees)

        async with stay(make_turn=make_turn) as here:  # type: ignore[arg-type]
            here.model = model
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await test(here, fact.id, ann)

    run_in_virtual_time(playing)


async def finals(screen: Screen, count: int) -> list[dict[str, object]]:
    await until(lambda: len(screen.of("assistant.message_final")) >= count)
    await trio.sleep(0.5)
    return screen.of("assistant.message_final")


def said(*words: str) -> list[object]:
    return [*(SaidText(word) for word in words), Finished()]


def test_a_turn_reads_a_file_and_answers_and_the_next_one_knows_of_it() -> None:
    script = Script([call("read_file", file_path="src/app.py"), Finished()], said("It ", "greets."), said("Yes."))

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("What does it do?")
        (final,) = await finals(ann, 1)
        assert final["message"] == "It greets."
        assert ann.rendered() == ["It greets."]
        tools = ann.of("tool.execute")
        assert [(each["tool_name"], each["status"]) for each in tools] == [
            ("read_file", "started"),
            ("read_file", "completed"),
        ]
        await ann.ask("Really?")
        await finals(ann, 2)
        told = [message.content for message in script.requests[-1].messages]
        assert "It greets." in told
        assert any("hello {name}" in each for each in told)
        assert (await here.log(id).messages())[-1].content == "Yes."

    play(test, script)


def test_the_model_that_needs_nobody_answers_from_the_files() -> None:
    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("Where is greet defined?")
        (final,) = await finals(ann, 1)
        assert "src/app.py" in str(final["message"])
        assert ann.rendered() == [final["message"]]
        assert ann.state["total_steps"] > 0
        assert ann.errors == []

    play(test, Script([]), ModelConfig(provider="builtin"))


def test_a_cancel_closes_the_models_stream_and_the_text_so_far_is_kept() -> None:
    script = Script([SaidText("one "), SaidText("two "), trio.sleep_forever])

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: ann.rendered() == ["one two "])
        assert script.open == 1
        began = trio.current_time()
        await ann.cancel()
        await until(lambda: ann.of("assistant.message_final"))
        assert trio.current_time() - began <= 0.25
        assert script.open == 0
        (final,) = await finals(ann, 1)
        assert final["message"] == "one two "

    play(test, script)


def test_what_steers_reaches_the_model_between_two_rounds() -> None:
    script = Script([call("list_files"), partial(trio.sleep, 1), Finished()], said("left, then"))

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: script.open)
        await ann.ask("turn left", delivery="steer")
        (final,) = await finals(ann, 1)
        assert final["message"] == "left, then"
        assert any("turn left" in message.content for message in script.requests[-1].messages)
        assert [each["steers"] for each in ann.of("user.message")] == [False, True]

    play(test, script)


def test_a_turn_ends_with_its_session() -> None:
    script = Script([SaidText("one "), trio.sleep_forever])

    async def test(here: Stay, id: str, ann: Screen) -> None:  # noqa: A002
        await ann.ask("go")
        await until(lambda: ann.of("assistant.token"))
        session = here.session(id)
        assert session is not None
        session.kill()
        (final,) = await finals(ann, 1)
        assert final["metadata"]["interrupted"]  # type: ignore[index]
        assert script.open == 0
        assert not here.turns()

    play(test, script)
