"""The ledger, its viewers and the desk, under the mock clock."""

from contextlib import suppress
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families
from trio.testing import wait_all_tasks_blocked

from actors.ipc.client_steps import OVERDUE
from actors.ipc.desk import ORDER_SECONDS
from actors.ipc.editor import EDITOR
from actors.ipc.ledger import LOOK_SECONDS, MOST_KEPT, PATIENCE, with_the_attempt_under_way
from actors.ipc.lines import Lines
from actors.ipc.messages import EditorNow, Forgotten, Noted, PeerNow, RunningNow
from actors.ipc.viewing import DETAIL_REST, REST, DeskViewer
from actors.kernel import Actor, ChildSpec, KernelError, NobodyThere, PeerGone
from codec.ipc import Failure, Success
from codec.ipc.desk import (
    DeskHealth,
    DeskNotice,
    DeskTotals,
    DetailGone,
    DetailWanted,
    Handled,
    RequestDetail,
    RequestFact,
    Shown,
    Window,
    WindowWanted,
)
from codec.ipc.orders import BadOrder
from tests.ipc.client_kit import Desk, in_turn, play, request
from tests.ipc.desk_kit import NOW, DeskHouse, PaperJournal, attempt, desk_house, fact, many
from tests.ipc.paper import PaperBase
from tests.others_turns import others_turns


async def window(house: DeskHouse, **query: str) -> Window:
    return msgspec.json.decode(await house.desk.window({key: [value] for key, value in query.items()}), type=Window)


async def totals(house: DeskHouse) -> DeskTotals:
    return msgspec.json.decode(await house.desk.totals(), type=DeskTotals)


async def filled(house: DeskHouse) -> None:
    with trio.fail_after(60):
        while (await totals(house)).filling:  # noqa: ASYNC110 - what is asked is the public figure
            await trio.sleep(0.01)


class Page:
    """A page's end of the wire."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.at: list[float] = []
        self.stalled: trio.Event | None = None

    async def send(self, text: str) -> None:
        await trio.lowlevel.checkpoint()
        if self.stalled is not None:
            await self.stalled.wait()
        self.told.append(msgspec.json.decode(text, type=Shown))
        self.at.append(trio.current_time())

    def of(self, kind: type) -> list[Any]:
        return [each for each in self.told if isinstance(each, kind)]


# -- the ledger


async def test_it_is_filled_from_the_journal_page_by_page(autojump_clock: object) -> None:
    journal = PaperJournal(page=4)
    journal.put(*(fact(f"r{number}", created=NOW + number) for number in range(9)))
    async with desk_house(journal) as house:
        await filled(house)
        assert (await totals(house)).by_state == {"success": 9}
        assert [row.id for row in (await window(house, limit="3")).rows] == ["r8", "r7", "r6"]
        assert journal.asked == ["", "r3", "r7"]


async def test_what_is_told_while_it_is_filled_is_newer_than_what_is_read(autojump_clock: object) -> None:
    journal = PaperJournal(closed=trio.Event())
    journal.put(fact("a", "polling"), fact("b", "polling"), fact("c", "polling"))
    async with desk_house(journal) as house:
        await wait_all_tasks_blocked()  # the page has been read, and is on its way
        await house.ledger.send(Noted((fact("a", "success"),)))
        await house.ledger.send(Forgotten(("b",)))
        assert (await totals(house)).filling
        assert journal.closed is not None
        journal.closed.set()
        await filled(house)
        assert {row.id: row.state for row in (await window(house)).rows} == {"a": "success", "c": "polling"}


async def test_a_journal_that_cannot_be_read_is_read_later(autojump_clock: object) -> None:
    journal = PaperJournal(broken=True)
    journal.put(fact("a"))
    async with desk_house(journal) as house:
        await trio.sleep(3)
        assert (await totals(house)).filling
        with pytest.raises(KernelError, match="the disk is full"):
            await house.desk.detail("a")
        journal.broken = False
        await filled(house)
        assert (await totals(house)).by_state == {"success": 1}
        assert await house.desk.detail("a") is not None


async def test_it_crashes_and_knows_all_again(autojump_clock: object) -> None:
    journal = PaperJournal()
    journal.put(fact("a"), fact("b", "gave up"))
    async with desk_house(journal) as house:
        await filled(house)
        house.ledger.tell(Noted((None,)))  # type: ignore[arg-type]
        await trio.sleep(5)
        assert (await totals(house)).by_state == {"success": 1, "gave up": 1}


async def test_the_totals_say_what_every_part_has_told(autojump_clock: object) -> None:
    base = PaperBase()
    base.quarantined.append(("x", "it is torn"))
    async with desk_house(base=base) as house:
        await house.note(fact("a", "waiting", NOW - 60), fact("b", "gave up", NOW - 90), fact("c", "polling", NOW - 5))
        await house.ledger.send(RunningNow(2, 7))
        await house.ledger.send(EditorNow("The editor is running."))
        await house.ledger.send(PeerNow("An editor answers.", alive=True))
        await trio.sleep(2 * LOOK_SECONDS)
        now = await totals(house)
        assert (now.running, now.editor, now.peer) == (2, "The editor is running.", "An editor answers.")
        assert (now.oldest, now.failed, now.quarantined) == (NOW - 60, 1, 1)
        assert now.base == (await base.health()).path


async def test_a_folder_that_does_not_answer_is_in_trouble_and_recovers(autojump_clock: object) -> None:
    class Stuck(PaperBase):
        stuck = True

        async def health(self) -> Any:
            if self.stuck:
                await trio.sleep_forever()
            return await super().health()

    base = Stuck()
    async with desk_house(base=base) as house:
        await trio.sleep(PATIENCE + 1)
        assert "has not answered" in (await totals(house)).trouble
        base.stuck = False
        await trio.sleep(PATIENCE + 2 * LOOK_SECONDS)
        assert (await totals(house)).trouble == ""


async def test_an_end_that_another_server_has_is_told_where_the_desk_is_shown_and_its_folder_is_well(
    autojump_clock: object,
) -> None:
    journal = PaperJournal(other_client="process 7 answers the requests")
    async with desk_house(journal) as house:
        await trio.sleep(2 * LOOK_SECONDS)
        assert (await totals(house)).down == "Process 7 answers the requests."
        assert b"troupe_ipc_base_up 1.0" in await house.desk.metrics()
        with pytest.raises(KernelError, match=r"does not know whether .* 'nobody': Process 7 answers the requests\."):
            await house.desk.detail("nobody")
        well, said = await house.desk.health()
        assert not well
        assert msgspec.json.decode(said, type=DeskHealth).trouble == ("Process 7 answers the requests.",)
        journal.other_client = None
        assert await house.desk.detail("nobody") is None
        await trio.sleep(2 * LOOK_SECONDS)
        assert (await totals(house)).down == ""
        assert (await house.desk.health())[0]


async def test_health_fails_on_a_lost_folder_and_where_nobody_has_answered_for_a_while(autojump_clock: object) -> None:
    base = PaperBase()

    async def health(house: DeskHouse) -> tuple[bool, DeskHealth]:
        well, answer = await house.desk.health()
        return well, msgspec.json.decode(answer, type=DeskHealth)

    async with desk_house(base=base) as house:
        await trio.sleep(2 * LOOK_SECONDS)
        assert (await health(house))[0]
        base.gone = "The folder has been removed; make it again."
        await trio.sleep(2 * LOOK_SECONDS)
        well, said = await health(house)
        assert not well
        assert said.trouble == (base.gone,)
        base.gone = None
        await house.ledger.send(PeerNow("Nobody has taken a request.", alive=False))
        await trio.sleep(50)
        assert (await health(house))[0]
        await house.ledger.send(PeerNow("Nobody has taken a request yet.", alive=False))
        await trio.sleep(15)
        well, said = await health(house)
        assert not well
        assert "Nobody has answered for" in said.trouble[0]
        await house.ledger.send(PeerNow("An editor answers.", alive=True))
        assert (await health(house))[0]


async def test_health_fails_while_the_editor_does_not_work(autojump_clock: object) -> None:
    why = "The editor is silent: it has answered no ping for 20 s."

    class PaperEditor(Actor[Any]):
        troubled = True

        async def started(self, kept: object | None) -> None:
            self.stage.registry.claim(EDITOR, self.ref)

        @property
        def trouble(self) -> str | None:
            return why if PaperEditor.troubled else None

    async with desk_house(beside=[ChildSpec("editor", PaperEditor)]) as house:
        await trio.sleep(2 * LOOK_SECONDS)
        well, said = await house.desk.health()
        assert (well, msgspec.json.decode(said, type=DeskHealth).trouble) == (False, (why,))
        PaperEditor.troubled = False
        assert (await house.desk.health())[0]


async def test_health_fails_a_minute_after_attempts_began_to_go_unanswered(autojump_clock: object) -> None:
    async with desk_house() as house:
        for attempts in (1, 2):
            await house.note(fact("a", "polling", attempts=attempts))
            await trio.sleep(30)
            await house.note(fact("a", "retrying", attempts=attempts, message=OVERDUE))
        assert (await house.desk.health())[0]
        assert "The last 2 attempts were not answered in time" in (await totals(house)).peer
        await trio.sleep(31)
        assert not (await house.desk.health())[0]
        await house.note(fact("a", "polling", attempts=3))
        assert not (await house.desk.health())[0]
        await house.note(fact("a", "success", attempts=3))
        assert (await house.desk.health())[0]


async def test_an_order_is_waited_for_for_ten_minutes_and_then_said_to_go_on(autojump_clock: object) -> None:
    async with desk_house(PaperJournal(endless=True)) as house:
        began = trio.current_time()
        with pytest.raises(KernelError, match="this takes more than 10 minutes and goes on; the list shows how far"):
            await house.desk.order("requeue", b'{"all": true}')
        assert trio.current_time() - began == pytest.approx(ORDER_SECONDS)


async def test_the_metrics_count_states_attempts_and_latencies(autojump_clock: object) -> None:
    journal = PaperJournal()
    journal.put(fact("old", "success", attempts=3, seconds=9.0))
    async with desk_house(journal, wall=lambda: NOW + 100) as house:
        await filled(house)
        await house.note(fact("a", "polling", NOW, attempts=1))
        await house.note(fact("a", "retrying", NOW, attempts=1), fact("b", "waiting", NOW + 40))
        await house.note(fact("a", "polling", NOW, attempts=2))
        await house.note(fact("a", "success", NOW, attempts=2, seconds=0.4))
        await house.note(fact("c", "gave up", NOW, attempts=3, seconds=99.0))
        text = (await house.desk.metrics()).decode()
        values = {
            (each.name, *each.labels.values()): each.value
            for family in text_string_to_metric_families(text)
            for each in family.samples
        }
    assert values["troupe_ipc_requests", "success"] == 2
    assert values["troupe_ipc_requests", "gave_up"] == 1
    assert values["troupe_ipc_requests", "polling"] == 0
    assert values["troupe_ipc_queue_depth",] == 1
    assert values["troupe_ipc_oldest_age_seconds",] == 60
    assert values["troupe_ipc_attempts_total",] == 5  # those of before the start are not begun by us
    assert values["troupe_ipc_ended_total", "success"] == 1
    assert values["troupe_ipc_latency_seconds_count",] == 1
    assert values["troupe_ipc_latency_seconds_bucket", "0.1"] == 0
    assert values["troupe_ipc_latency_seconds_bucket", "0.5"] == 1
    assert values["troupe_ipc_latency_seconds_bucket", "+Inf"] == 1
    assert values["troupe_ipc_base_up",] == 1


@pytest.mark.slow
async def test_nothing_waits_long_while_it_searches_a_hundred_thousand(autojump_clock: object) -> None:
    """In turns: how many, not how long, which would be the machine's."""
    journal = PaperJournal(page=1_000)
    journal.details = {each.fact.id: each for each in many(100_000)}
    async with desk_house(journal) as house:
        await filled(house)
        async with others_turns() as turns:
            found = await window(house, text="did not answer", order="oldest")
        assert found.total == sum(each.fact.message != "" for each in journal.details.values())
        assert turns.taken > 30


# -- what is asked and ordered over HTTP


async def test_a_list_is_read_to_its_end_by_after(autojump_clock: object) -> None:
    journal = PaperJournal()
    journal.put(*(fact(f"r{number}", created=NOW + number // 2) for number in range(20)))
    async with desk_house(journal) as house:
        await filled(house)
        seen: list[str] = []
        rows = (await window(house, limit="6")).rows
        while rows:
            seen += [row.id for row in rows]
            await house.note(fact(f"new{len(seen)}", created=NOW + 1_000))  # comes above, and moves nothing
            rows = (await window(house, limit="6", after=seen[-1])).rows
        expected = sorted(journal.details.values(), key=lambda each: (each.fact.created, each.fact.id), reverse=True)
        assert seen == [each.fact.id for each in expected if each.fact.id.startswith("r")]
        with pytest.raises(BadOrder, match="no request 'nobody'"):
            await window(house, after="nobody")


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ({"state": "lost"}, "expected state to be something else than 'lost'"),
        ({"limit": "many"}, "expected limit to be a number"),
        ({"limit": "501"}, "expected limit to be a number from 0 to 500, not '501'"),
        ({"order": "best"}, "expected order to be something else"),
        ({"colour": "red"}, "'colour' is not known here"),
        ({"text": "x" * 201}, "expected text to have at most 200 characters"),
        ({"after": "x" * 129}, "expected after to have at most 128 characters"),
    ],
)
async def test_a_query_that_is_wrong_is_answered_in_words(
    autojump_clock: object, query: dict[str, str], wrong: str
) -> None:
    async with desk_house() as house:
        with pytest.raises(BadOrder, match=wrong):
            await window(house, **query)


async def test_states_can_be_given_with_commas_and_underscores(autojump_clock: object) -> None:
    async with desk_house() as house:
        await house.note(fact("a", "gave up"), fact("b", "success"), fact("c", "waiting"))
        assert {row.id for row in (await window(house, state="gave_up,waiting")).rows} == {"a", "c"}


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (b"", "expected JSON"),
        (b"[1]", "expected it to be an object, and it is an array"),
        (b"\xff\xfe", "expected JSON"),
        (b'{"requests": []}', "at least one"),
        (b'{"requests": [{"command": ""}]}', "to have at least 1 character"),
        (b'{"requests": [{"command": "ping", "parms": {}}]}', "the field 'parms' is not known in requests\\[0\\]"),
        (b'{"requests": [{"command": "ping", "params": []}]}', "params to be an object, and it is an array"),
        (b'{"requests": [{"command": "ping", "id": "../x"}]}', "request 1 of 1 cannot be taken: '../x' is no id"),
        (b'{"requests": [{"command": "a", "id": "x"}, {"command": "b", "id": "x"}]}', "ask for different things"),
        (b'{"requests": [{"command": "a", "params": {"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}]}", "nested"),
    ],
)
async def test_a_submission_that_is_wrong_is_answered_in_words(autojump_clock: object, body: bytes, wrong: str) -> None:
    async with desk_house() as house:
        with pytest.raises(BadOrder, match=wrong):
            await house.desk.submit(body)


@pytest.mark.parametrize("body", [b"{}", b'{"ids": []}', b'{"match": ""}'])
async def test_an_order_has_to_say_which_requests_it_means(autojump_clock: object, body: bytes) -> None:
    async with desk_house() as house:
        with pytest.raises(BadOrder, match="expected to be told which requests"):
            await house.desk.order("requeue", body)


async def test_what_is_submitted_gets_an_id_and_a_line(autojump_clock: object) -> None:
    async with desk_house() as house:
        body = b'{"requests": [{"command": "ping"}, {"command": "setMode", "id": "mine"}]}'
        any_taken, answer = await house.desk.submit(body)
        assert any_taken
        ids = msgspec.json.decode(answer, type=Handled).ids
        assert len(ids) == 2
        assert ids[1] == "mine"
        await wait_all_tasks_blocked()
        assert (await totals(house)).by_state == {"waiting": 2}


async def test_without_a_client_end_nothing_is_ordered_and_all_is_shown(autojump_clock: object) -> None:
    async with desk_house(client=False) as house:
        await house.note(fact("a"))
        with pytest.raises(NobodyThere):
            await house.desk.submit(b'{"requests": [{"command": "ping"}]}')
        assert (await window(house)).total == 1


# -- pages


async def test_a_page_is_shown_totals_and_a_window_and_then_what_differs(autojump_clock: object) -> None:
    async with desk_house() as house:
        await filled(house)
        await trio.sleep(2)
        page = Page()
        async with house.desk.view(page):
            await wait_all_tasks_blocked()
            assert [type(each) for each in page.told] == [DeskTotals, Window]
            await house.note(fact("a", "polling"))
            await trio.sleep(2 * REST)
            assert [row.id for row in page.of(Window)[-1].rows] == ["a"]
            told = len(page.told)
            await trio.sleep(30)
            assert len(page.told) == told  # nothing has changed
            await house.note(fact("a", "polling"))
            await trio.sleep(2 * REST)
            assert len(page.told) == told  # the same again


async def test_a_page_is_told_of_a_burst_four_times_a_second_at_most(autojump_clock: object) -> None:
    async with desk_house() as house:
        page = Page()
        async with house.desk.view(page):
            for number in range(200):
                await house.note(fact(f"r{number}", created=NOW + number))
                await trio.sleep(0.01)
            await trio.sleep(1)
        assert page.of(Window)[-1].total == 200
        shows = [at for each, at in zip(page.told, page.at, strict=True) if isinstance(each, Window)]
        assert 6 <= len(shows) <= 12
        assert all(b - a >= REST - 0.001 for a, b in pairwise(shows))


async def test_a_page_that_does_not_read_has_no_backlog(autojump_clock: object) -> None:
    async with desk_house() as house:
        page = Page()
        async with house.desk.view(page):
            await wait_all_tasks_blocked()
            page.stalled = trio.Event()
            for number in range(2_000):
                await house.note(fact(f"r{number}", created=NOW + number))
            await trio.sleep(20)
            told = len(page.told)
            page.stalled.set()
            await trio.sleep(2)
            assert len(page.told) - told <= 6
            assert page.of(Window)[-1].total == 2_000


async def test_a_page_is_shown_at_once_what_it_wants(autojump_clock: object) -> None:
    async with desk_house() as house:
        await house.note(*(fact(f"r{number}", created=NOW + number) for number in range(50)))
        page = Page()
        async with house.desk.view(page) as seat:
            await wait_all_tasks_blocked()
            before = trio.current_time()
            wanted = WindowWanted(first=10, count=5, text="r1", order="oldest")
            await seat.heard(msgspec.json.encode(wanted))
            assert trio.current_time() == before
            assert page.told[-1].first == 10
            assert [row.id for row in page.told[-1].rows] == ["r19"]
            assert page.told[-1].total == 11


async def test_a_page_is_shown_a_little_later_what_cannot_be_told_it_at_once(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, troubles = DeskViewer._ask, [KernelError("the ledger is too busy")] * 2

    async def ask_in_vain(viewer: DeskViewer, question: Any) -> Any:
        if page.told and troubles:
            raise troubles.pop()
        return await ask(viewer, question)

    monkeypatch.setattr(DeskViewer, "_ask", ask_in_vain)
    async with desk_house() as house:
        await house.note(*(fact(f"r{number}") for number in range(9)))
        page = Page()
        async with house.desk.view(page) as seat:
            await trio.sleep(10)
            assert troubles == []
            troubles += [KernelError("the ledger is too busy")] * 2
            told = len(page.told)
            await seat.heard(msgspec.json.encode(WindowWanted(first=2)))
            assert len(page.told) == told
            await trio.sleep(3 * REST)
            assert (page.told[-1].first, page.told[-1].total) == (2, 9)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are searched for."""
    searched, search = list[str](), Lines.search

    def counted(lines: Lines, wanted: WindowWanted) -> Any:
        searched.append(wanted.text)
        return search(lines, wanted)

    monkeypatch.setattr(Lines, "search", counted)
    return searched


async def test_a_question_that_many_pages_ask_is_searched_for_once_until_a_line_changes(
    autojump_clock: object, searched: list[str]
) -> None:
    async with desk_house() as house:
        await house.note(*(fact(f"r{number}") for number in range(9)))
        for _ in range(3):
            assert len((await window(house, text="r", limit="2")).rows) == 2
            assert len((await window(house, text="R")).rows) == 9
            assert len((await window(house, text="r1")).rows) == 1
        assert searched == ["r", "r1"]
        await house.note(fact("r10"))
        assert len((await window(house, text="r1")).rows) == 2
        assert searched == ["r", "r1", "r1"]


async def test_of_many_questions_the_last_are_remembered(autojump_clock: object, searched: list[str]) -> None:
    asked = [f"r{number}" for number in range(MOST_KEPT)]
    async with desk_house() as house:
        await house.note(fact("r1"))
        for text in (*asked, *asked):
            await window(house, text=text)
        assert searched == asked, "so many are kept"
        for text in ("another", *asked[1:], asked[0]):
            await window(house, text=text)
        assert searched == [*asked, "another", asked[0]], "of one more the one that was asked for longest ago is not"


def last_line(desk: Desk, id: str) -> RequestFact:  # noqa: A002 - as in the contract
    told = [each for note in desk.ledger.messages if isinstance(note, Noted) for each in note.facts]
    return [each for each in told if each.id == id][-1]


@pytest.mark.parametrize("requeued", [False, True])
def test_a_first_attempt_is_shown_while_it_is_under_way_though_the_journal_does_not_know_that_it_has_begun(
    requeued: bool,
) -> None:
    outcomes = in_turn(*([Failure("no", permanent=True)] if requeued else []), None)

    async def test(desk: Desk) -> None:
        await desk.submit(request("a"))
        if requeued:
            await desk.over("a")
            await desk.requeue(ids=("a",))
        await trio.sleep(5.0)
        line = last_line(desk, "a")
        detail = with_the_attempt_under_way(await desk.journal.detail("a"), line)
        assert detail is not None
        assert detail.fact == line
        assert line.state == "polling"
        assert [each.number for each in detail.tried] == [*range(1, 2 + requeued)]
        assert (detail.tried[-1].outcome, detail.tried[-1].began) == (None, line.changed)

    play(test, outcomes=outcomes)


async def test_a_line_that_is_older_than_the_journal_begins_no_attempt(autojump_clock: object) -> None:
    async with desk_house() as house:
        ended = RequestDetail(fact=fact("a", "success", attempts=1), tried=(attempt(1, Success(1)),))
        for detail, line in [
            (ended, fact("a", "polling", attempts=1)),
            (replace(ended, fact=replace(ended.fact, state="retrying")), fact("a", "polling", attempts=1)),
            (RequestDetail(fact=fact("a", "cancelled", attempts=0)), fact("a", "polling", attempts=1)),
            (RequestDetail(fact=fact("a", "waiting", attempts=0)), fact("a", "waiting", attempts=0)),
        ]:
            await house.note(line)
            house.journal.details["a"] = detail
            assert await house.desk.detail("a") == msgspec.json.encode(detail)
        house.journal.details["a"] = RequestDetail(fact=fact("a", "waiting", attempts=0))
        await house.ledger.send(Noted((fact("a", "polling", attempts=1),)))
        shown = msgspec.json.decode(await house.desk.detail("a") or b"", type=RequestDetail)
        assert [(each.number, each.outcome) for each in shown.tried] == [(1, None)]


async def test_the_open_request_is_kept_up_to_date_and_its_end_is_told(autojump_clock: object) -> None:
    async with desk_house() as house:
        await house.note(fact("a", "polling"))
        page = Page()
        async with house.desk.view(page) as seat:
            await seat.heard(msgspec.json.encode(DetailWanted(id="a")))
            assert page.of(RequestDetail)[-1].tried == ()
            tried = (attempt(1, Failure("no")), attempt(2, Success({"content": "yes"})))
            await house.note(RequestDetail(fact=fact("a", "success", attempts=2), tried=tried))
            await trio.sleep(2 * REST)
            assert page.of(RequestDetail)[-1].tried == tried
            house.journal.details["a"] = replace(house.journal.details["a"], evaluation={"bleu": 0.5})
            await trio.sleep(2 * DETAIL_REST)  # changes no line
            assert page.of(RequestDetail)[-1].evaluation == {"bleu": 0.5}
            del house.journal.details["a"]
            await house.ledger.send(Forgotten(("a",)))
            await trio.sleep(2 * REST)
            assert page.told[-1] == DetailGone(id="a")
            for _ in range(2):
                await house.note(RequestDetail(fact=fact("a", "success", attempts=2), tried=tried))
                await trio.sleep(2 * DETAIL_REST)
                assert page.told[-1] == page.of(RequestDetail)[-1], "it is back"
                del house.journal.details["a"]
                await house.ledger.send(Forgotten(("a",)))
                await trio.sleep(2 * DETAIL_REST)
                assert page.told[-1] == DetailGone(id="a"), "and gone again"
            await seat.heard(msgspec.json.encode(DetailWanted(id="")))
            told = len(page.told)
            await trio.sleep(20)
            assert len(page.told) == told


@pytest.mark.parametrize("text", ["", "[]", "{not json", '{"type": "dance"}', '{"type": "window", "count": 9999}'])
async def test_a_page_that_says_what_cannot_be_understood_is_told_so_and_stays(
    autojump_clock: object, text: str
) -> None:
    async with desk_house() as house:
        page = Page()
        async with house.desk.view(page) as seat:
            await seat.heard(text)
            assert page.of(DeskNotice)[-1].level == "error"
            await seat.heard(msgspec.json.encode(WindowWanted(first=1)))
            assert page.of(Window)[-1].first == 1


async def test_a_page_outlives_the_ledger(autojump_clock: object) -> None:
    journal = PaperJournal()
    journal.put(fact("a"))
    async with desk_house(journal) as house:
        page = Page()
        async with house.desk.view(page):
            await trio.sleep(1)
            house.ledger.tell(Noted((None,)))  # type: ignore[arg-type]
            await trio.sleep(5)
            await house.note(fact("b", created=NOW + 1))
            await trio.sleep(1)
            assert [row.id for row in page.of(Window)[-1].rows] == ["b", "a"]


async def test_a_page_ends_with_the_ledger_if_that_does_not_come_back(autojump_clock: object) -> None:
    async with desk_house() as house, trio.open_nursery() as nursery:
        over = trio.Event()

        async def view() -> None:
            with suppress(KernelError):
                async with house.desk.view(Page()):
                    await trio.sleep_forever()
            over.set()

        nursery.start_soon(view)
        await trio.sleep(1)
        await house.ledger.stop()
        with trio.fail_after(60):
            await over.wait()
        nursery.cancel_scope.cancel()


async def test_a_page_that_goes_ends_its_viewer_alone(autojump_clock: object) -> None:
    class Gone(Page):
        async def send(self, text: str) -> None:
            raise PeerGone("the page was closed")

    async with desk_house() as house:
        with trio.move_on_after(5):
            async with house.desk.view(Gone()):
                await trio.sleep_forever()
        await house.note(fact("a"))
        assert (await totals(house)).by_state == {"success": 1}
