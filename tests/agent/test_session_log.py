"""The log and the row of a session, over the real store and the one on paper."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agent.log import SessionLog, all_gists, new_row, packed
from actors.agent.messages import LogEntry
from actors.agent.retelling import joined, transcript
from actors.kernel import ChildSpec, Registry
from actors.kernel.testing import run_in_virtual_time, staged
from actors.store import Conflict, Inline, StateDirectory, Store
from codec.agent.events import FinalMetadata, LogEvent, MessageFinal, Thinking, Token, ToolExecute, UserMessage
from codec.agent.kept import (
    SessionRow,
    TurnMark,
    UnreadableEntry,
    Waiting,
    blob_entry,
    blob_of,
    event_entry,
    event_text,
    numbers_of,
    read_entry,
    read_gist,
    read_row,
    tokens_entry,
    write_row,
)
from codec.agent.sessions import SessionFact
from tests.agent.paper_store import PaperDisk, paper_spec

FACT = SessionFact(id="s", workspace_id="w", created_at="2026-01-01T00:00:00.000Z", updated_at="")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
events: st.SearchStrategy[LogEvent] = st.one_of(
    st.builds(Token, token=texts),
    st.builds(Token, token=texts),
    st.builds(Token, token=texts),
    st.builds(Thinking, phase=st.just("planning"), message=texts),
    st.builds(UserMessage, message=texts, message_id=texts, turn_id=st.just("t"), steers=st.booleans()),
    st.builds(MessageFinal, message=texts, metadata=st.just(FinalMetadata(success=True))),
    st.just(ToolExecute(tool_name="t", args={"a": 1}, status="completed", call_id="c", result={"text": "x"})),
)


@st.composite
def logs(draw: st.DrawFn) -> list[LogEntry]:
    """Events with rising numbers; after a kill some are left out."""
    found: list[LogEntry] = []
    seq = 0
    for event in draw(st.lists(events, max_size=60)):
        seq += draw(st.sampled_from((1, 1, 1, 1, 1, 1, 700)))
        found.append(LogEntry(seq, event))
    return found


def unjoined(entries: Sequence[LogEntry]) -> list[tuple[Any, ...]]:
    """What a reader of joined entries has read: texts in the place of tokens."""
    found: list[tuple[Any, ...]] = []
    for entry in entries:
        if isinstance(entry.event, Token):
            if found and found[-1][0] == "text":
                found[-1] = ("text", found[-1][1] + entry.event.token)
            else:
                found.append(("text", entry.event.token))
        else:
            found.append((entry.seq, entry.event))
    return found


@given(logs())
def test_an_entry_is_read_as_it_was_written(entries: list[LogEntry]) -> None:
    written = packed(entries)
    read = [LogEntry(seq, event) for entry in written for seq, event in read_entry(entry)]
    assert read == entries
    assert [numbers_of(entry) for entry in written] == [
        (group[0][0], group[-1][0]) for group in map(read_entry, written)
    ]


@given(logs())
def test_joined_tokens_say_the_same_with_the_last_number(entries: list[LogEntry]) -> None:
    told = list(joined(entries))
    assert unjoined(told) == unjoined(entries)
    assert {entry.seq for entry in told} <= {entry.seq for entry in entries}
    assert all(
        not (isinstance(one.event, Token) and isinstance(other.event, Token))
        for one, other in pairwise(told)
    )
    assert [entry.seq for entry in told] == sorted(entry.seq for entry in told)


@asynccontextmanager
async def paper_log() -> AsyncIterator[tuple[SessionLog, Registry]]:
    async with staged(paper_spec(PaperDisk(seconds=lambda: 0.0))) as house:
        yield SessionLog(house.stage.registry, "s"), house.stage.registry


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(logs(), st.data())
def test_a_log_is_read_after_any_number_and_up_to_any(entries: list[LogEntry], data: st.DataObject) -> None:
    async def test() -> None:
        async with paper_log() as (log, _):
            position, left = 0, list(entries)
            while left:
                count = data.draw(st.integers(1, 12))
                some, left = left[:count], left[count:]
                position = await log.keep(some, None, position)
            last = entries[-1].seq if entries else 0
            assert await log.last_number() == last
            for after in data.draw(st.lists(st.integers(0, last + 2), max_size=5)):
                upto = data.draw(st.one_of(st.none(), st.integers(after, last + 2)))
                async with aclosing(log.pages(after, upto)) as pages:
                    read = [entry async for page in pages for entry in page]
                assert read == [
                    entry for entry in entries if after < entry.seq and (upto is None or entry.seq <= upto)
                ]
                limit = data.draw(st.integers(1, 20))
                page = await log.events(after, limit)
                assert len(page.events) <= limit
                assert page.more or page.after == max(after, last)
                assert await log.text_before(after) == text_before(entries, after)
            told: list[LogEntry] = []
            while (page := await log.events(told[-1].seq if told else 0, 7)).events:
                for event in page.events:
                    assert isinstance(event.seq, int)
                    told.append(LogEntry(event.seq, msgspec.structs.replace(event, seq=msgspec.UNSET)))
            assert unjoined(told) == unjoined(entries)

    run_in_virtual_time(test)


def text_before(entries: Sequence[LogEntry], seq: int) -> str:
    text = ""
    for entry in entries:
        if entry.seq >= seq:
            break
        match entry.event:
            case Token(token=token):
                text += token
            case MessageFinal() | UserMessage(steers=False):
                text = ""
    return text


@pytest.fixture(params=["paper", "real"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "paper":
        yield paper_spec(PaperDisk())
        return
    with StateDirectory.claim(tmp_path / "state") as directory:
        yield ChildSpec("store", partial(Store, directory, Inline))


def test_entries_and_row_are_one_commit_and_the_same_again_is_done_once(store: Any) -> None:
    async def test() -> None:
        async with staged(store) as house:
            log = SessionLog(house.stage.registry, "s")
            row = SessionRow(fact=FACT, reserved=1000, turn=TurnMark(turn_id="t", seq=1))
            entries = [LogEntry(1, Thinking(phase="planning", message="a")), LogEntry(2, Token(token="b"))]
            assert await log.keep(entries, row, 0) == 2
            assert await log.keep(entries, row, 0) == 2, "whoever does not know tries again"
            assert await log.row() == row
            assert (await log.length(), await log.last_number()) == (2, 2)
            with pytest.raises(Conflict):
                await log.keep(entries[:1], None, 0)
            assert await log.entries() == entries

    run_in_virtual_time(test)


def test_what_is_too_large_is_a_blob_and_goes_with_its_session(store: Any) -> None:
    async def test() -> None:
        async with staged(store) as house:
            log = SessionLog(house.stage.registry, "s")
            large = Thinking(phase="planning", message="é" * 2_000_000)
            queue = tuple(Waiting(message_id=f"m{number}", message="x" * 700_000) for number in range(3))
            row = SessionRow(fact=FACT, queue=queue)
            await log.keep([LogEntry(1, large), LogEntry(2, Token(token="b"))], row, 0)
            assert await log.entries() == [LogEntry(1, large), LogEntry(2, Token(token="b"))]
            other = SessionLog(house.stage.registry, "s")
            assert await other.row() == row
            ((id, gist),) = await all_gists(house.stage.registry)  # noqa: A001
            assert gist is not None
            assert (id, gist.fact, gist.unfinished) == ("s", FACT, True)
            await other.keep((), SessionRow(fact=FACT), 2)
            await other.remove()
            assert await other.row() is None
            assert await other.entries() == []

    run_in_virtual_time(test)


def test_a_session_is_exported_line_by_line(store: Any) -> None:
    async def test() -> None:
        async with staged(store) as house:
            await new_row(house.stage.registry, SessionRow(fact=FACT))
            log = SessionLog(house.stage.registry, "s")
            await log.keep([LogEntry(number, Token(token=f"{number} ")) for number in (1, 2, 3)], None, 0)
            async with aclosing(log.export()) as lines:
                first, second = [line async for line in lines]
            assert msgspec.json.decode(first)["id"] == "s"
            assert msgspec.json.decode(second) == {"type": "assistant.token", "seq": 3, "token": "1 2 3 "}

    run_in_virtual_time(test)


def test_what_cannot_be_read_costs_itself_only(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        disk = PaperDisk()
        async with staged(paper_spec(disk)) as house:
            log = SessionLog(house.stage.registry, "s")
            await log.keep([LogEntry(1, Token(token="a"))], SessionRow(fact=FACT), 0)
            lost = blob_entry(event_entry(4, b"{}"), "nowhere")
            odd = [b"e2 {}", b'e3 {"type":"what?"}', lost, b"x5 1"]
            disk.paper.streams["agent/session/s"] += [*odd, tokens_entry(6, ["b"])]
            disk.paper.pairs["agent/session", "t"] = b"?"
            assert [entry.seq for entry in await log.entries()] == [6], "joined"
            assert (await log.entries())[0].event == Token(token="ab")
            assert [(id, gist is None) for id, gist in await all_gists(house.stage.registry)] == [  # noqa: A001
                ("s", False),
                ("t", True),
            ]
        assert len([record for record in caplog.records if "without an event" in record.message]) == 8

    run_in_virtual_time(test)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (b"", "an entry begins with b''"),
        (b"e", "an entry begins with b'e'"),
        (b"ex {}", "an entry begins with b'ex {}'"),
        (b"t1-x []", "an entry begins with b't1-x "),
        (b"e1", "the entry of 1 cannot be read: "),
        (b"t1-2 3", "the entry of 1 cannot be read: "),
        (b"e1 [", "the entry of 1 cannot be read: "),
        (b"q1 {}", "an entry is of the kind b'q'"),
    ],
)
def test_an_odd_entry_is_unreadable_and_nothing_else(entry: bytes, says: str) -> None:
    with pytest.raises(UnreadableEntry, match=f"^{says}"):
        read_entry(entry)


def test_a_row_is_read_as_it_was_written_and_a_list_needs_little_of_it() -> None:
    row = SessionRow(fact=FACT, queue=(Waiting(message_id="m", message="x"),), turn=TurnMark(turn_id="t", seq=1))
    assert read_row(write_row(row)) == row
    assert read_gist(write_row(row)).unfinished
    assert not read_gist(write_row(SessionRow(fact=FACT))).unfinished
    for odd in (b"", b"{}", b"[", b'{"fact": 1}', b"\xff"):
        with pytest.raises(UnreadableEntry):
            read_row(odd)
        with pytest.raises(UnreadableEntry):
            read_gist(odd)


def test_a_blob_is_known_by_its_head() -> None:
    entry = tokens_entry(8, ["a", "b"])
    assert blob_of(entry) is None
    assert blob_of(blob_entry(entry, "abc")) == "abc"
    assert numbers_of(blob_entry(entry, "abc")) == numbers_of(entry) == (8, 9)


def test_a_transcript_tells_who_said_what() -> None:
    final = FinalMetadata(success=False, cancelled=True, turn_id="t", seconds=2.5)
    entries = [
        LogEntry(1, UserMessage(message="go", message_id="m", turn_id="t", at=1_800_000_000.0)),
        LogEntry(2, Token(token="I ")),
        LogEntry(3, ToolExecute(tool_name="read_file", args={}, status="started", call_id="c")),
        LogEntry(
            4, ToolExecute(tool_name="read_file", args={}, status="completed", call_id="c", result={"text": "lines"})
        ),
        LogEntry(5, UserMessage(message="left", message_id="n", turn_id="t", steers=True)),
        LogEntry(6, Token(token="see")),
        LogEntry(7, MessageFinal(message="I see", metadata=final)),
        LogEntry(8, UserMessage(message="more", message_id="o", turn_id="u")),
        LogEntry(9, Token(token="We")),
        LogEntry(10, Token(token="ll")),
    ]
    told = transcript(entries)
    assert [(each.role, each.content, each.seq, each.id) for each in told] == [
        ("user", "go", 1, "m"),
        ("tool", "lines", 4, "c"),
        ("user", "left", 5, "n"),
        ("assistant", "I see", 7, "t"),
        ("user", "more", 8, "o"),
        ("assistant", "Well", 10, "u"),
    ]
    assert told[0].created_at == "2027-01-15T08:00:00.000Z"
    assert told[3].created_at == "2027-01-15T08:00:02.500Z"
    assert told[3].cancelled


def test_no_event_that_is_no_json_is_written() -> None:
    with pytest.raises((TypeError, ValueError)):
        event_text(1, ToolExecute(tool_name="t", args=object(), status="started", call_id="c"))
    with pytest.raises((TypeError, ValueError)):
        event_text(1, Token(token="\ud800"))
