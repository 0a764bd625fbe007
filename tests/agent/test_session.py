"""A session through the eyes of its clients: what they say, what becomes of it, and what they see."""

from actors.kernel.testing import run_in_virtual_time
from tests.agent.session_kit import Screen, Tokens, stay, until


def test_a_client_asks_and_sees_the_whole_turn() -> None:
    async def test() -> None:
        async with stay(script=[Tokens(3)]) as here:
            fact = await here.create()
            ann = Screen("ann")
            await here.connect(ann, fact.id)
            await ann.ask("What is this?", "m1")
            await until(lambda: ann.of("assistant.message_final"))
            assert [message["type"] for message in ann.messages if message["type"] != "session.state"] == [
                "server.hello",
                "user.message",
                "assistant.token",
                "assistant.token",
                "assistant.token",
                "assistant.message_final",
            ]
            assert [message["seq"] for message in ann.events] == [1, 2, 3, 4, 5]
            assert [message["cumulative_text"] for message in ann.of("assistant.token")] == ["0 ", "0 1 ", "0 1 2 "]
            await until(lambda: not ann.state["running"])
            assert ann.state["title"] == "What is this?"

    run_in_virtual_time(test)
