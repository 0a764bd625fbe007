"""One scenario, at the real desk with a peer, and at the one for tests: scripts cannot tell them apart."""

import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from msgspec.structs import replace

from tests.ipc.test_documents import JSON
from tests.patience import PATIENCE
from tests.troupe.ipc.peer import at_the_desk
from troupe.ipc import BadId, BadParams, Desk, IdTaken, NoSuchRequest, NotYet, RequestFailed, Result, folder
from troupe.ipc.desk import History
from troupe.ipc.testing import NEVER, FakeDesk, fails
from troupe.ipc.tickets import AnyDesk

ANSWERS = {
    "echo": lambda params: {"content": params["prompt"]},
    "flaky": [fails("busy"), {"tries": 2}],
    "fail": fails("busy"),
    "wrong": fails("no such model", permanent=True),
    "never": NEVER,
}
NAIVE = datetime(2030, 1, 2)  # noqa: DTZ001 - that it has no zone is the subject


@pytest.fixture(params=["real", "in memory", "fake"])
async def desk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AnyDesk]:
    """In memory, what is short is done in the loop."""
    monkeypatch.setattr(folder, "lies_in_memory", lambda device: request.param == "in memory")
    if request.param == "fake":
        async with FakeDesk(ANSWERS) as fake:
            yield fake
    else:
        with at_the_desk(tmp_path / "base"):
            history: History = "failed" if request.param == "in memory" else "all"
            async with Desk(tmp_path / "base", state=tmp_path, history=history) as real:
                yield real


async def test_a_desk_that_is_entered_as_the_other_kind_is_says_how_each_is_entered(desk: AnyDesk) -> None:
    for_trio = "This desk is for trio: `async with Desk() as desk`. Else: `with Desk.blocking() as desk`."
    with pytest.raises(TypeError, match=re.escape(for_trio)), desk:
        pass
    calls: Any = await trio.to_thread.run_sync(FakeDesk.blocking)
    not_for_trio = "This desk is not for trio: `with Desk.blocking() as desk`. In trio: `async with Desk()`."
    try:
        with pytest.raises(TypeError, match=re.escape(not_for_trio)):
            async with calls:
                pass
    finally:
        await trio.to_thread.run_sync(calls.close)


async def test_a_request_is_submitted_and_waited_for(desk: AnyDesk) -> None:
    result = await desk.run("echo", {"prompt": "hello"})
    assert (result.ok, result.data, result.error) == (True, {"content": "hello"}, "")
    assert result.raise_for_failure() is result


@pytest.mark.parametrize(("command", "why"), [("fail", "busy"), ("wrong", "no such model")])
async def test_what_fails_for_good_says_why(desk: AnyDesk, command: str, why: str) -> None:
    result = await desk.run(command)
    assert (result.ok, result.data, result.error, result.cancelled) == (False, None, why, False)
    assert result.attempts
    with pytest.raises(RequestFailed, match=why):
        result.raise_for_failure()


async def test_an_error_that_is_followed_by_a_success_is_none(desk: AnyDesk) -> None:
    assert (await desk.run("flaky")).data == {"tries": 2}


async def test_the_same_again_is_the_same_request_and_something_else_is_refused(desk: AnyDesk) -> None:
    first = await desk.run("echo", {"prompt": "a"}, id="mine")
    assert await desk.run("echo", {"prompt": "a"}, id="mine", priority=5) == first
    for command, prompt in (("echo", "b"), ("flaky", "a")):
        with pytest.raises(IdTaken, match="mine"):
            await desk.submit(command, {"prompt": prompt}, id="mine")


async def test_of_many_that_are_submitted_together_all_that_are_taken_are_named_and_the_others_submitted(
    desk: AnyDesk,
) -> None:
    many = [desk.made("echo", {"prompt": "a"}, f"n{number}", {}) for number in range(700)]
    await desk.submit_many(many[::7])
    other = [replace(each, params={"prompt": "b"}) if at % 3 == 0 else each for at, each in enumerate(many)]
    with pytest.raises(IdTaken) as said:
        await desk.submit_many(other)
    assert list(said.value.taken) == [f"n{number}" for number in range(0, 700, 21)]
    assert all(name in why for name, why in said.value.taken.items())
    assert str(said.value) == said.value.taken["n0"] + " (and 33 more)"
    left = {each.id: each.params["prompt"] for at, each in enumerate(other) if at % 21}
    async for result in desk.as_completed([desk.ticket(name) for name in left]):
        assert result.data == {"content": left.pop(result.id)}
    assert not left


async def test_results_of_a_map_come_in_order(desk: AnyDesk) -> None:
    prompts = [{"prompt": str(number)} for number in range(50)]
    found = [result.data["content"] async for result in desk.map("echo", prompts, concurrency=7)]
    assert found == [each["prompt"] for each in prompts]


async def test_a_map_that_was_left_goes_on_under_the_same_ids(desk: AnyDesk) -> None:
    def named(params: dict[str, str]) -> str:
        return f"n{params['prompt']}"

    prompts = [{"prompt": str(number)} for number in range(9)]
    async for _ in desk.map("echo", prompts, concurrency=2, ids=named):
        break
    again = [result async for result in desk.map("echo", prompts, concurrency=2, ids=named)]
    assert [each.id for each in again] == [named(each) for each in prompts]


async def test_results_as_they_are_completed_are_all_of_them_once(desk: AnyDesk) -> None:
    tickets = [await desk.submit(command) for command in ("fail", "flaky", "wrong")]
    found: list[Result] = [result async for result in desk.as_completed([*tickets, tickets[0]])]
    assert {each.id for each in found} == {each.id for each in tickets}
    assert len(found) == 3


async def test_who_waits_too_long_is_told_and_can_wait_again(desk: AnyDesk) -> None:
    ticket = await desk.submit("never")
    with pytest.raises(NotYet, match=ticket.id):
        await ticket.wait(0.01)
    assert isinstance(NotYet(), TimeoutError)


async def test_who_waits_for_what_nobody_has_submitted_is_told_so(desk: AnyDesk) -> None:
    with trio.fail_after(PATIENCE), pytest.raises(NoSuchRequest, match="There is no request nobody"):
        await desk.ticket("nobody").wait(patience=0.6)


async def test_who_waits_for_what_is_submitted_a_moment_later_gets_its_result(desk: AnyDesk) -> None:
    found: list[Result] = []

    async def wait() -> None:
        found.append(await desk.ticket("soon").wait(30))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked(0.01)
        await desk.submit("echo", {"prompt": "x"}, id="soon")
    assert found[0].data == {"content": "x"}


@given(JSON)
def test_what_json_can_say_is_submitted_as_it_is(value: Any) -> None:
    assert FakeDesk().made("echo", {"a": value, "b": (value,)}, None, {}).params == {"a": value, "b": [value]}


async def test_whoever_waits_can_be_cancelled_and_another_goes_on(desk: AnyDesk) -> None:
    never = await desk.submit("never")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(never.wait)
        await trio.testing.wait_all_tasks_blocked(0.01)
        with trio.fail_after(PATIENCE):
            assert (await desk.run("echo", {"prompt": "x"})).ok
        nursery.cancel_scope.cancel()
    assert (await desk.run("flaky")).ok


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (lambda desk: desk.submit("echo", {"prompt": object()}), "cannot be written as JSON"),
        (lambda desk: desk.submit("echo", {"a": [1, {"b": float("nan")}]}), r"params.a\[1\].b is nan, which JSON"),
        (lambda desk: desk.submit("echo", {"a": float("-inf")}), "params.a is -inf"),
        (lambda desk: desk.submit("echo", {"a": {1, 2}}), "params.a is a value of the type set"),
        (lambda desk: desk.submit("echo", {"a": (1, b"x")}), r"params.a\[1\] is a value of the type bytes"),
        (lambda desk: desk.submit("echo", {"a": {1: 2}}), "params.a is a value of the type dict"),
        (lambda desk: desk.submit("echo", {"a": datetime.now(UTC)}), "params.a is a value of the type datetime"),
        (lambda desk: desk.submit("echo", ["a"]), "The params of echo are a dict with texts as keys, and not list"),
        (lambda desk: desk.submit("echo", {1: "a"}), "texts as keys"),
        (lambda desk: desk.submit("echo", deadline=NAIVE), "deadline has no time zone; give it one"),
        (lambda desk: desk.submit("echo", not_before=NAIVE), "not_before has no time zone; give it one"),
        (lambda desk: desk.submit(""), "A command is"),
        (lambda desk: desk.submit("echo", priority=1000), "priority"),
        (lambda desk: desk.submit("echo", {"x": "y" * (17 << 20)}), "at most"),
    ],
)
async def test_what_can_be_no_request_is_said_in_words(
    desk: AnyDesk, attempt: Callable[[AnyDesk], "trio.abc.AsyncResource"], said: str
) -> None:
    with pytest.raises(BadParams, match=said):
        await attempt(desk)  # type: ignore[misc]
    with pytest.raises(BadId):
        await desk.submit("echo", id="../etc/passwd")


async def test_a_concurrency_of_nothing_is_refused(desk: AnyDesk) -> None:
    with pytest.raises(ValueError, match="concurrency is at least 1, not 0"):
        desk.map("echo", [], concurrency=0)


async def test_a_map_takes_an_id_for_each_of_its_params_and_says_what_is_wrong_with_them(desk: AnyDesk) -> None:
    prompts = [{"prompt": str(number)} for number in range(4)]
    names = [f"own-{each['prompt']}" for each in prompts]
    found = [result async for result in desk.map("echo", prompts, ids=iter(names))]
    assert [each.id for each in found] == names
    for ids, why in ((names[:2], "fewer ids than params"), ("one-text", "it is a text")):
        with pytest.raises(BadParams, match=why):
            async for _ in desk.map("echo", [*prompts, {"prompt": "5"}], concurrency=9, ids=ids):
                pass
