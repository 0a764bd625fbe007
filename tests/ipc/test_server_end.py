"""The server end: what comes into the folder is answered, once, in turn, whatever happens meanwhile."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

import codec.ipc.request
from actors.ipc.command import AGAIN_SECONDS, KnownBefore
from actors.ipc.given import TOO_LATE, EntryStuck, Tray
from actors.ipc.handlers import CommandContext, Handlers, KnownCommand
from actors.ipc.hands import COMMANDS, Hands
from actors.ipc.messages import CLIENT_END, LEDGER, TakeUp
from actors.ipc.server_steps import POISON
from actors.ipc.steps import Identity
from actors.kernel import KernelError, Why
from actors.kernel.testing import Puppet, staged
from codec.ipc import Dialect, Failure, Outcome, Success, write_response
from tests.ipc.paper import PaperBase
from tests.ipc.server_kit import EPOCH, FOLDER, ServerDesk, asked, serving, specs, state_directory

LISTING_SECONDS, AT_ONCE = 100.0, 1.0


@pytest.fixture
def base() -> PaperBase:
    return PaperBase()


class Counting:
    """A handler that counts its runs, and answers when it is let."""

    def __init__(self, outcomes: list[Any] | None = None, *, held: bool = False) -> None:
        self.runs: list[str] = []
        self.cancelled: list[str] = []
        self.outcomes = outcomes or []
        self.go = trio.Event()
        if not held:
            self.go.set()
        self.most = self.now = 0

    async def __call__(self, params: Any, context: CommandContext) -> Any:
        self.runs.append(context.request.id)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.go.wait()
        except trio.Cancelled:
            self.cancelled.append(context.request.id)
            raise
        finally:
            self.now -= 1
        outcome = self.outcomes.pop(0) if self.outcomes else "done"
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    @property
    def command(self) -> KnownCommand:
        return KnownCommand("count", self)


async def test_a_request_is_answered_in_both_forms_and_its_files_stay(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            desk.put("r")
            assert await desk.success("r") == {"message": "pong"}
            await trio.sleep(10)
            fields = msgspec.json.decode(base.files[Tray.RESPONSES, "r"][1])
            assert (fields["status"], fields["final_status"]) == ("success", "success")
            assert (Tray.REQUESTS, "r") in base.files


async def test_a_requests_fingerprint_is_worked_out_once_for_each_time_that_it_is_read(
    base: PaperBase, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    class Encoder:
        def encode(self, what: Any) -> bytes:
            found.append(what)
            return msgspec.json.encode(what, order="sorted")

    monkeypatch.setattr(codec.ipc.request, "_sorted", Encoder())
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            desk.put("r")
            await desk.success("r")
            await trio.sleep(10)
    assert 1 <= len(found) <= base.calls.count("look r")


async def test_an_error_that_is_taken_away_is_run_again_and_a_success_is_not(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    handler = Counting([RuntimeError("busy"), "done"])
    with state_directory() as directory:
        async with serving(base, directory, [handler.command]) as (desk, _):
            desk.put("r", "count")
            assert await desk.failure() == Failure("count failed: RuntimeError: busy")
            desk.take_away()
            assert await desk.success() == "done"
            desk.take_away()
            await trio.sleep(60)
            base.overflow()
            await trio.sleep(60)
            assert desk.answered() == set()
        async with serving(base, directory, [handler.command]) as (desk, _):
            await trio.sleep(60)
            assert desk.answered() == set()
    assert handler.runs == ["r", "r"]


async def test_a_handler_that_does_not_let_itself_be_ended_loses_its_place_and_no_other_run_begins_beside_it(
    base: PaperBase, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    tasks: list[trio.lowlevel.Task] = []

    async def stubborn(params: Any, context: CommandContext) -> Any:
        tasks.append(trio.lowlevel.current_task())
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)  # as a thread that hangs
        return "late"

    handler = KnownCommand("stubborn", stubborn)
    ledger = Puppet("ledger")
    ledger.on_start.append(lambda puppet: puppet.stage.registry.claim(LEDGER, puppet.ref))
    with state_directory() as directory:
        made = specs(base, directory, [handler], concurrency=1, command_seconds=30.0)
        async with staged(*made, ledger.spec()) as house:
            desk = ServerDesk(base)
            try:
                desk.put("r", "stubborn")
                await trio.sleep(1)
                desk.put("plain")
                assert (await desk.failure("r")) == Failure(
                    "stubborn was not over after 30 seconds, and did not let itself be ended", permanent=True
                )
                assert await desk.success("plain") == {"message": "pong"}
                await trio.sleep(60)
                assert "does not let itself be ended" in caplog.text
                assert ledger.messages[-1].lost == 1
                assert house.stage.registry.get(COMMANDS).children() == []
                desk.put("s", "stubborn")
                await trio.sleep(1)
                base.foreign_drop(Tray.REQUESTS, "s")  # a run that is cancelled is lost as well
                desk.put("t")
                await desk.success("t")
                await trio.sleep(60)
                assert ledger.messages[-1].lost == 2
                assert desk.response("s") is None
            finally:  # or the test would never end
                for task in tasks:
                    trio.lowlevel.reschedule(task)
            await trio.sleep(60)
            assert desk.answered() == {"r", "plain", "t"}
    assert len(tasks) == 2


async def test_in_the_dialect_of_head_the_request_is_removed_once_it_is_answered(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    handler = Counting([RuntimeError("busy")])
    with state_directory() as directory:
        async with serving(base, directory, [handler.command], dialect=Dialect.HEAD) as (desk, _):
            desk.put("r", "count")
            await desk.outcome()
            await trio.sleep(10)
            assert set(base.files) == {(Tray.RESPONSES, "r")}
            assert "status" not in msgspec.json.decode(base.files[Tray.RESPONSES, "r"][1])
            desk.take_away()
            await trio.sleep(60)
            assert set(base.files) == set()
            desk.put("r", "count")
            assert await desk.success() == "done"
    assert handler.runs == ["r", "r"]


async def never(*_: object) -> None:
    await trio.sleep_forever()


@pytest.mark.parametrize("journal", ["kept", "lost"])
@pytest.mark.parametrize("fails", [False, True])
async def test_in_the_dialect_of_head_an_answered_request_that_a_kill_has_left_is_removed_and_not_run_again(
    base: PaperBase, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, journal: str, fails: bool
) -> None:
    handler = Counting([RuntimeError("busy")] if fails else [])
    with state_directory() as first, state_directory() as second:
        with monkeypatch.context() as patch:
            patch.setattr(base, "withdraw", never)  # the kill comes before it
            async with serving(base, first, [handler.command], dialect=Dialect.HEAD) as (desk, _):
                desk.put("r", "count")
                await desk.outcome()
                await trio.sleep(10)
        assert set(base.files) == {(Tray.REQUESTS, "r"), (Tray.RESPONSES, "r")}
        answer = base.files[Tray.RESPONSES, "r"]
        async with serving(base, first if journal == "kept" else second, [handler.command], dialect=Dialect.HEAD):
            await trio.sleep(10)
        assert base.files == {(Tray.RESPONSES, "r"): answer}
    assert handler.runs == ["r"]


async def test_a_run_is_cancelled_when_its_request_disappears(base: PaperBase, autojump_clock: MockClock) -> None:
    handler = Counting(held=True)
    with state_directory() as directory:
        async with serving(base, directory, [handler.command]) as (desk, house):
            desk.put("r", "count")
            await trio.sleep(1)
            base.foreign_drop(Tray.REQUESTS, "r")
            await trio.sleep(1)
            assert handler.cancelled == ["r"]
            assert house["server/commands"].children() == []
            assert desk.answered() == set()
            handler.go.set()
            desk.put("r", "count")
            assert await desk.success() == "done"


async def test_another_request_of_the_same_id_is_run_in_the_place_of_the_first(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    with state_directory() as directory:
        async with serving(base, directory, model="echo") as (desk, _):
            for text in ("one", "two"):
                desk.put("r", "submitPrompt", {"prompt": text})
                await trio.sleep(5)
                assert (await desk.success())["content"] == text


async def test_an_answer_that_was_there_before_is_one_and_nothing_is_read_that_is_answered(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    for number in range(50):
        base.foreign_put(Tray.REQUESTS, f"old-{number}", asked(f"old-{number}"))
        base.foreign_put(Tray.RESPONSES, f"old-{number}", write_response(f"old-{number}", Success("theirs")))
    base.foreign_put(Tray.REQUESTS, "new", asked("new"))
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            assert await desk.success("new") == {"message": "pong"}
            assert {call for call in base.calls if call.startswith("look")} == {"look new"}


async def test_what_kills_its_server_is_begun_three_times_and_then_answered(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    handler = Counting(held=True)
    with state_directory() as directory:
        base.foreign_put(Tray.REQUESTS, "r", asked("r", "count"))
        for _ in range(3):
            async with serving(base, directory, [handler.command]) as (_, house):
                await trio.sleep(1)
                house.root.kill()
        async with serving(base, directory, [handler.command]) as (desk, _):
            assert await desk.failure() == Failure(POISON, permanent=True)
    assert handler.runs == ["r"] * 3


@pytest.mark.parametrize("trouble", ["gone", "full"])
async def test_trouble_with_the_folder_costs_neither_a_start_nor_an_answer(
    base: PaperBase, autojump_clock: MockClock, trouble: str
) -> None:
    handler = Counting(held=True)
    with state_directory() as directory:
        async with serving(base, directory, [handler.command]) as (desk, _):
            desk.put("r", "count")
            desk.put("s", "count")
            await trio.sleep(1)
            if trouble == "gone":
                base.lose("it was removed")
            base.full = True
            handler.go.set()
            await trio.sleep(600)
            assert desk.answered() == set()
            base.full = False
            if trouble == "gone":
                base.mend()
            assert [await desk.success("r"), await desk.success("s")] == ["done", "done"]
    assert sorted(handler.runs) == ["r", "s"]


async def test_only_so_many_run_at_once_and_a_lone_request_is_not_held_up_by_very_many(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    order: list[str] = []

    async def work(params: Any, context: CommandContext) -> Any:
        order.append(context.request.id)
        await trio.sleep(1)

    with state_directory() as directory:
        async with serving(base, directory, [KnownCommand("work", work)], concurrency=4) as (desk, house):
            for number in range(200):
                desk.put(f"batch-{number}", "work")
            await trio.sleep(3.5)
            assert len(house["server/commands"].children()) == 4
            desk.put("mine", "work")
            await desk.success("mine")
            assert order.index("mine") < 30
            await desk.outcome("batch-199")
    assert sorted(order) == sorted(["mine", *(f"batch-{number}" for number in range(200))])


@pytest.mark.parametrize("seconds", [0.5 * LISTING_SECONDS, 1.5 * LISTING_SECONDS])
async def test_a_look_at_all_names_holds_up_nothing_that_comes_meanwhile_and_forgets_nothing_of_it(
    base: PaperBase, autojump_clock: MockClock, seconds: float
) -> None:
    """Whether the requests are being listed or the answers."""
    base.listing_seconds, handler = LISTING_SECONDS, Counting(held=True)
    with state_directory() as directory:
        async with serving(base, directory, [handler.command], concurrency=1) as (desk, _):
            for again in ("", "-again"):  # after a start, and later
                began = trio.current_time()
                base.overflow()
                await trio.sleep_until(began + seconds)
                desk.put(f"pinged{again}")
                await desk.outcome(f"pinged{again}", AT_ONCE)
                desk.put(f"begun{again}", "count")
                desk.put(f"waits{again}", "count")
                await trio.sleep_until(began + 4 * LISTING_SECONDS)  # when the list is there, one is run, and one waits
                handler.go.set()
                for name in (f"begun{again}", f"waits{again}"):
                    await desk.outcome(name, AT_ONCE)
                handler.go = trio.Event()
                desk.take_away(f"pinged{again}")  # it is known for a success: nobody has asked for another
                await trio.sleep_until(began + 100 * LISTING_SECONDS)
                assert f"pinged{again}" not in desk.answered()
    assert handler.runs == ["begun", "waits", "begun-again", "waits-again"]


async def test_a_request_waits_for_its_time_and_one_past_its_deadline_fails_unrun(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    handler = Counting()
    with state_directory() as directory:
        async with serving(base, directory, [handler.command]) as (desk, _):
            desk.put("early", "count", not_before=EPOCH + trio.current_time() + 100)
            desk.put("late", "count", deadline=EPOCH + trio.current_time() - 1)
            assert await desk.failure("late") == Failure(TOO_LATE, permanent=True)
            await trio.sleep(90)
            assert handler.runs == []
            assert await desk.success("early") == "done"
            assert "final_status" not in msgspec.json.decode(base.files[Tray.RESPONSES, "early"][1])


async def test_torn_and_spoiled_files_are_waited_out_and_answered_or_set_aside(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            base.foreign_put(Tray.REQUESTS, "torn", b'{"request_id"')
            base.foreign_put(Tray.REQUESTS, "late", b'{"request_id"')
            base.foreign_put(Tray.RESPONSES, "mine", b"{")
            desk.put("mine")
            await trio.sleep(0.5)
            desk.put("late")
            assert await desk.success("late") == {"message": "pong"}
            assert (await desk.failure("torn")).message.startswith("a request is a JSON object, and this is not JSON")
            await trio.sleep(5)
            assert await desk.success("mine") == {"message": "pong"}
            assert [each for each, _ in base.quarantined] == ["mine"]


async def test_the_ledger_is_told_how_many_run_and_wait(base: PaperBase, autojump_clock: MockClock) -> None:
    handler, ledger = Counting(held=True), Puppet("ledger")
    ledger.on_start.append(lambda puppet: puppet.stage.registry.claim(LEDGER, puppet.ref))
    with state_directory() as directory:
        async with staged(ledger.spec(), *specs(base, directory, [handler.command], concurrency=2)):
            for number in range(5):
                base.foreign_put(Tray.REQUESTS, f"r{number}", asked(f"r{number}", "count"))
            await trio.sleep(1)
            now = ledger.messages[-1]
            assert (now.count, now.waiting) == (2, 3)
            handler.go.set()
            await trio.sleep(2)
            now = ledger.messages[-1]
            assert (now.count, now.waiting) == (0, 0)


async def test_a_second_server_keeps_down_in_one_sentence_until_the_first_has_gone_and_the_log_says_both(
    base: PaperBase, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "troupe.ipc")
    why: list[str | None] = ["process 7 is the server of /paper"]

    async def claim() -> str | None:
        await trio.lowlevel.checkpoint()
        return why[0]

    monkeypatch.setattr(base, "claim_server", claim)
    with state_directory() as directory:
        async with serving(base, directory) as (desk, house):
            desk.put("r")
            await trio.sleep(30)
            assert desk.answered() == set()
            assert house["server/end"].statistics().trouble == why[0]
            why[0] = None
            assert await desk.success() == {"message": "pong"}
            assert house["server/end"].statistics().trouble is None
    assert [record.message for record in caplog.records] == [
        "process 7 is the server of /paper",
        f"our server end answers the requests in {FOLDER} from now on",
    ]


@pytest.mark.parametrize("victim", ["end", "commands", "command"])
async def test_whoever_is_killed_everything_is_answered_and_the_others_go_on(
    base: PaperBase, autojump_clock: MockClock, victim: str
) -> None:
    handler = Counting(held=True)
    with state_directory() as directory:
        async with serving(base, directory, [handler.command], concurrency=2) as (desk, house):
            for number in range(5):
                desk.put(f"r{number}", "count")
            await trio.sleep(1)
            match victim:
                case "end" | "commands":
                    house[f"server/{victim}"].kill()
                case "command":
                    house["server/commands"].children()[0].kill()
            await trio.sleep(1)
            handler.go.set()
            for number in range(5):
                assert await desk.success(f"r{number}") == "done"
            if victim == "end":
                assert len(handler.runs) == 5


@pytest.mark.slow
async def test_a_storm_of_evil_handlers_restarts_nothing(base: PaperBase, autojump_clock: MockClock) -> None:
    async def child() -> None:
        raise SystemExit(3)

    async def evil(params: Any, context: CommandContext) -> Any:
        match params["how"] % 6:
            case 0:
                raise SystemExit(1)
            case 1:
                raise BaseExceptionGroup("all", [KeyboardInterrupt(), ValueError()])
            case 2:
                await trio.sleep_forever()
            case 3:
                return object()
            case 4:
                return "x" * (5 << 20)
            case 5:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(child)
                    await trio.sleep_forever()
        return None

    with state_directory() as directory:
        async with serving(base, directory, [KnownCommand("evil", evil)]) as (desk, house):
            for number in range(120):
                desk.put(f"r{number}", "evil", {"how": number})
            desk.put("mine")
            await desk.success("mine")
            for number in range(120):
                assert (await desk.failure(f"r{number}")).message.startswith("evil ")
            ends = [entry.detail.stop for entry in house.trace.of("stop")]
            assert len(ends) >= 100
            assert all(stop.why is Why.DONE for stop in ends)


async def test_what_waits_is_a_row_and_not_an_actor(base: PaperBase, autojump_clock: MockClock) -> None:
    handler = Counting(held=True)
    with state_directory() as directory:
        async with serving(base, directory, [handler.command], concurrency=3) as (desk, house):
            for number in range(1_000):
                desk.put(f"r{number}", "count", {"text": "x" * 1_000})
            await trio.sleep(5)
            assert len(house["server/commands"].children()) == 3
            base.overflow()
            await trio.sleep(5)
            assert len([call for call in base.calls if call.startswith("look")]) < 2_200
            assert handler.runs == handler.runs[:3]


async def test_the_mode_that_was_set_outlives_the_server(base: PaperBase, autojump_clock: MockClock) -> None:
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            desk.put("set", "setMode", {"mode": "chat"})
            assert await desk.success("set") == {"mode": "chat"}
        async with serving(base, directory) as (desk, _):
            desk.put("get", "getCurrentState")
            assert await desk.success("get") == {"model": "none", "mode": "chat"}


@pytest.mark.slow
async def test_what_is_found_at_once_is_run_in_the_order_in_which_its_ids_count(
    base: PaperBase, autojump_clock: MockClock
) -> None:
    handler, names = Counting(), [f"r{number}" for number in range(50)]
    for id in reversed(names):  # noqa: A001
        base.foreign_put(Tray.REQUESTS, id, asked(id, "count"))
    with state_directory() as directory:
        async with serving(base, directory, [handler.command], concurrency=1):
            await trio.sleep(60)
    assert handler.runs == names


async def test_what_cannot_be_begun_now_is_begun_later(
    base: PaperBase, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, tried = Hands.start, list[tuple[str, float]]()

    def refused_twice(hands: Hands, id: str, known: KnownBefore) -> bool:  # noqa: A002
        tried.append((id, trio.current_time()))
        return len(tried) > 2 and start(hands, id, known)

    monkeypatch.setattr(Hands, "start", refused_twice)
    with state_directory() as directory:
        async with serving(base, directory) as (desk, _):
            desk.put("r")
            assert await desk.success("r") == {"message": "pong"}
            await trio.sleep(60)
    assert [id for id, _ in tried] == ["r"] * 3  # noqa: A001
    assert tried[1][1] - tried[0][1] >= AGAIN_SECONDS


class Stumbling(PaperBase):
    """Where nothing can be answered, until it is `mended`."""

    def __init__(self) -> None:
        super().__init__()
        self.tried: list[float] = []
        self.mended = False

    async def answer(self, id: str, data: bytes) -> Identity:  # noqa: A002
        self.tried.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if not self.mended:
            raise EntryStuck("it cannot be written")
        return await super().answer(id, data)


async def test_what_goes_wrong_with_a_request_is_tried_again_more_and_more_seldom(autojump_clock: MockClock) -> None:
    base = Stumbling()
    with state_directory() as directory:
        async with serving(base, directory) as (desk, house):
            desk.put("r")
            await trio.sleep(150)
            assert [after - before for before, after in pairwise(base.tried)] == pytest.approx(
                [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
            )
            (command,) = house.stage.registry.get(COMMANDS).children()
            assert command.statistics().note == "it cannot be written"
            base.mended = True
            assert await desk.success("r") == {"message": "pong"}
            assert base.tried[-1] - base.tried[-2] == pytest.approx(30.0)


async def test_a_fault_of_ours_in_a_run_ends_its_command_which_begins_anew(
    base: PaperBase, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, faults = Handlers.run, [ZeroDivisionError("a fault")]

    async def faulty(handlers: Handlers, context: CommandContext, seconds: float) -> Outcome:
        if faults:
            raise faults.pop()
        return await run(handlers, context, seconds)

    monkeypatch.setattr(Handlers, "run", faulty)
    with state_directory() as directory:
        async with serving(base, directory) as (desk, house):
            desk.put("r")
            assert await desk.success("r") == {"message": "pong"}
            await trio.sleep(60)
            assert [crash.error for crash in house.stage.crashes] == ["ZeroDivisionError: a fault"]
            assert house.stage.registry.get(COMMANDS).children() == []


@pytest.mark.parametrize("stood_before", [True, False])
async def test_an_answer_that_stood_there_before_may_be_to_another_request_and_one_of_ours_is_not(
    base: PaperBase, autojump_clock: MockClock, stood_before: bool
) -> None:
    """An answer of ours is one, though its script has taken it away: to take it away asks for nothing."""
    handler, client, heard = Counting(), Puppet("client"), 0
    client.on_start.append(lambda puppet: puppet.stage.registry.claim(CLIENT_END, puppet.ref))

    async def take_up() -> TakeUp:
        nonlocal heard
        while True:
            heard += 1
            if isinstance(message := await client.message(heard), TakeUp):
                return message

    with state_directory() as directory:
        server = specs(base, directory, [handler.command], dialect=Dialect.HEAD, with_client=True)
        async with staged(*server, client.spec()):
            desk = ServerDesk(base)
            if stood_before:
                base.foreign_put(Tray.RESPONSES, "r", write_response("r", Success("to another one")))
            desk.put("r", "count")
            question = await take_up()
            desk.take_away("r")
            question.reply.fail(KernelError("another request r is under way"))
            (await take_up()).reply.set(None)
            await trio.sleep(60)
            assert handler.runs == ["r"]
            assert desk.answered() == ({"r"} if stood_before else set())
            assert (Tray.REQUESTS, "r") not in base.files
