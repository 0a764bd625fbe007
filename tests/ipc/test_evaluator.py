"""The evaluator over a folder on paper: once for each answer, in nobody's way, and nothing is missed for good."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.ipc import evaluator
from actors.ipc.client_steps import Row, State
from actors.ipc.dossier import Dossier, begun, opened, stepped
from actors.ipc.evaluator import Evaluator, evaluator_spec
from actors.ipc.given import Tray
from actors.ipc.messages import EVALUATOR, EvaluatorMessage, Succeeded
from actors.kernel import ActorRef, MailboxFull
from actors.kernel.testing import House, staged
from codec.ipc import Request, Scores, Success, Wishes, scores, write_request, write_response
from codec.ipc.evaluation import Evaluation, read_evaluation
from tests.ipc.paper import PaperBase

NOW = 1_700_000_000.0
PAGE = 100


class Scoring:
    """Counts, and can be held up."""

    def __init__(self) -> None:
        self.compared: list[tuple[str, str]] = []
        self.rests = 0
        self.gate = trio.Event()
        self.gate.set()
        self.fails = False

    async def scores(self, answer: str, expected: str) -> Scores | None:
        await self.gate.wait()
        self.compared.append((answer, expected))
        return None if self.fails else scores(answer, expected)

    def rest(self) -> None:
        self.rests += 1


def request(id: str, reference: str | None = "the cat sat") -> Request:  # noqa: A002
    return Request(id=id, command="submitPrompt", wishes=Wishes(reference=reference))


def success(id: str, text: str = "the cat") -> Succeeded:  # noqa: A002
    return Succeeded(request(id), Success({"content": text}), 2.5)


def stands(base: PaperBase, id: str, text: str = "the cat", reference: str | None = "the cat sat") -> None:  # noqa: A002
    base.foreign_put(Tray.REQUESTS, id, write_request(request(id, reference)))
    base.foreign_put(Tray.RESPONSES, id, write_response(id, Success({"content": text})))


def written(base: PaperBase) -> dict[str, Evaluation]:
    found = {}
    for (tray, id), (_, data, _) in base.files.items():  # noqa: A001
        if tray is Tray.EVALUATIONS:
            read = read_evaluation(data)
            assert read is not None
            found[id] = read
    return found


class PaperJournal:
    """What a client end has journalled of requests that its peer has taken away."""

    def __init__(self, *ids: str, bare: int = 0) -> None:
        """`bare`: so many more have no reference."""
        self.dossiers = {each: ended(each) for each in ids}
        self.dossiers |= {each: ended(each, None) for each in map("bare{}".format, range(bare))}
        self.pages: list[float] = []
        self.read: list[str] = []
        self.trouble = False

    async def referenced(self, after: str) -> tuple[list[str], str | None]:
        await trio.lowlevel.checkpoint()
        if self.trouble:
            raise MailboxFull("the store is busy")
        self.pages.append(trio.current_time())
        page = [id for id in sorted(self.dossiers) if id > after][:PAGE]  # noqa: A001
        return [id for id in page if self.dossiers[id].referenced], page[-1] if page else None  # noqa: A001

    async def find_over(self, id: str) -> Dossier | None:  # noqa: A002
        await trio.lowlevel.checkpoint()
        self.read.append(id)
        return self.dossiers.get(id)


def ended(id: str, reference: str | None = "the cat sat") -> Dossier:  # noqa: A002
    asked = request(id, reference)
    dossier = begun(opened(asked, write_request(asked), 1.0, "submitted"), 2.0)
    return stepped(dossier, Row(id, State.SUCCESS, 1, (), None, Success({"content": "the cat"})), 4.5, 2.5)


@asynccontextmanager
async def working(
    base: PaperBase, scoring: Scoring, journal: PaperJournal | None = None
) -> AsyncIterator[tuple[House, ActorRef[EvaluatorMessage]]]:
    made = None if journal is None else lambda _: journal
    async with staged(evaluator_spec(base, scoring, lambda: NOW, made)) as house:
        await wait_all_tasks_blocked()
        yield house, house.stage.registry.get(EVALUATOR)


async def settled(seconds: float = 0.0) -> None:
    await trio.sleep(seconds)
    await wait_all_tasks_blocked()


async def test_a_success_is_evaluated_once_for_each_answer(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    async with working(base, scoring) as (_, ref):
        for text in ("the cat", "the cat", "a dog"):
            ref.tell(success("a", text))
            await settled()
        assert [answer for answer, _ in scoring.compared] == ["the cat", "a dog"]
        (done,) = written(base).values()
        assert done.metrics.rouge_1 == scores("a dog", "the cat sat").rouge_1
        assert (done.duration, done.when) == (2.5, "2023-11-14T22:13:20.000Z")


async def test_what_has_no_reference_leaves_no_trace(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    async with working(base, scoring) as (_, ref):
        ref.tell(Succeeded(request("a", None), Success("x"), 1.0))
        await settled()
        assert scoring.compared == []
        assert written(base) == {}


async def test_whoever_tells_it_of_a_success_neither_waits_nor_fails_and_all_are_evaluated_in_the_end(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "MOST_WAITING", 10)
    base, scoring = PaperBase(), Scoring()
    scoring.gate = trio.Event()
    names = [f"r{number}" for number in range(3_000)]
    async with working(base, scoring) as (house, ref):
        for id in names:  # noqa: A001
            stands(base, id)
            ref.tell(success(id))
        await settled()
        assert ref.statistics().mailbox.dropped == 3_000 - 1_024
        assert house["evaluator"].statistics().restarts == 0
        scoring.gate.set()
        await settled(600.0)
        assert written(base).keys() == set(names)
        assert len(scoring.compared) <= len(names) + 20  # what waited while it was looked for


@asynccontextmanager
async def held_up(scoring: Scoring) -> AsyncIterator[tuple[House, list[Evaluator]]]:
    """Its scoring waits for a gate."""
    scoring.gate = trio.Event()
    base, made = PaperBase(), list[Evaluator]()
    spec = evaluator_spec(base, scoring, lambda: NOW)

    def make() -> Evaluator:
        made.append(Evaluator(base, scoring, lambda: NOW))
        return made[-1]

    async with staged(type(spec)(spec.id, make, mailbox=spec.mailbox)) as house:
        yield house, made


async def test_the_texts_that_wait_are_bounded(autojump_clock: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "MOST_CHARACTERS", 1_000)
    scoring = Scoring()
    async with held_up(scoring) as (house, made):
        for number in range(50):
            house["evaluator"].tell(success(f"r{number}", "x" * 100))
        await settled()
        known = made[-1].statistics()
        assert 0 < known.waiting <= 9
        assert known.waiting + known.dropped == 50
        scoring.gate.set()
        await settled()


async def test_whatever_is_dropped_is_counted_once(autojump_clock: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "MOST_WAITING", 10_000)
    scoring = Scoring()
    async with held_up(scoring) as (house, made):
        for flood in range(3):
            for number in range(1_100):
                house["evaluator"].tell(success(f"r{flood}-{number}"))
            await settled()
            lost = house["evaluator"].statistics().mailbox.dropped
            assert lost == (flood + 1) * (1_100 - 1_024)
            known = made[-1].statistics()
            assert (known.dropped, known.waiting) == (lost, (flood + 1) * 1_100 - lost)


async def test_a_success_that_is_told_again_and_again_waits_once_and_crowds_nobody_out(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "MOST_CHARACTERS", 1_000)
    scoring = Scoring()
    async with held_up(scoring) as (house, made):
        for each in ("a", *["b"] * 50, "a"):
            house["evaluator"].tell(success(each, "x" * 100))
        await settled()
        known = made[-1].statistics()
        assert (known.waiting, known.dropped) == (2, 0)


async def test_what_an_earlier_process_has_left_is_found_after_a_start(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    for number in range(100):
        stands(base, f"r{number}", reference="the cat" if number % 2 else None)
    stands(base, "failed")
    base.foreign_put(Tray.RESPONSES, "failed", b'{"request_id": "failed", "status": "error", "error_message": "x"}')
    stands(base, "torn")
    base.foreign_put(Tray.RESPONSES, "torn", b'{"request')
    async with working(base, scoring):
        await settled(60.0)
    found = written(base)
    assert found.keys() == {f"r{number}" for number in range(1, 100, 2)}
    assert {each.duration for each in found.values()} == {None}


async def test_old_files_without_a_reference_are_read_a_few_at_a_time_and_once(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    for number in range(1_000):
        stands(base, f"r{number}", reference=None)
    async with working(base, scoring):
        await settled(evaluator.GLANCE_SECONDS * 3.5)
        assert sum(call.startswith("read requests") for call in base.calls) <= 5 * evaluator.GLANCE
        await settled(3600.0)
        assert sum(call.startswith("read requests") for call in base.calls) == 1_000
        assert not any(call.startswith("look ") for call in base.calls), "none is read with its answer"


@pytest.mark.parametrize("trouble", ["gone", "full"])
async def test_a_folder_that_is_missing_or_full_loses_nothing_and_restarts_nobody(
    autojump_clock: object, trouble: str
) -> None:
    base, scoring = PaperBase(), Scoring()
    async with working(base, scoring) as (house, ref):
        if trouble == "gone":
            base.gone = "the folder is missing"
        base.full = trouble == "full"
        for number in range(20):
            ref.tell(success(f"r{number}"))
        await settled(60.0)
        assert written(base) == {}
        base.gone, base.full = None, False
        await settled(evaluator.AGAIN_SECONDS + 1)
        assert len(written(base)) == 20
        assert house["evaluator"].statistics().restarts == 0


async def test_a_comparison_that_is_given_up_is_counted_and_holds_nobody_up(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    scoring.fails = True
    stands(base, "a")
    async with working(base, scoring) as (house, ref):
        ref.tell(success("a"))
        await settled(60.0)
        scoring.fails = False
        ref.tell(success("b"))
        await settled(60.0)
        assert written(base).keys() == {"b"}
        assert "given up" in (house["evaluator"].statistics().note or "")


async def test_its_note_says_what_it_has_written_what_waits_and_what_it_gave_up(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    scoring.gate = trio.Event()
    async with working(base, scoring) as (house, ref):

        def note() -> str | None:
            return house["evaluator"].statistics().note

        for count, id in enumerate("abc", start=1):  # noqa: A001
            ref.tell(success(id))
            await settled()
            assert note() == f"0 evaluations written, {count} waiting"
        scoring.gate.set()
        await settled()
        assert note() == "3 evaluations written"
        scoring.fails = True
        ref.tell(success("d"))
        await settled()
        assert note() == "3 evaluations written, 1 given up, because comparing the texts took too long"
        scoring.gate = trio.Event()
        ref.tell(success("e"))
        await settled()
        assert note() == "3 evaluations written, 1 waiting, 1 given up, because comparing the texts took too long"


async def test_the_comparing_process_rests_while_there_is_nothing_to_compare(autojump_clock: object) -> None:
    base, scoring = PaperBase(), Scoring()
    async with working(base, scoring) as (_, ref):
        await settled(3600.0)
        assert scoring.rests == 1
        ref.tell(success("a"))
        await settled()
        assert (scoring.rests, len(written(base))) == (1, 1)
        await settled(3600.0)
        assert scoring.rests == 2


async def test_what_was_dropped_in_a_burst_and_taken_away_by_its_peer_is_found_again_in_the_journal(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "MOST_WAITING", 10)
    base, scoring, names = PaperBase(), Scoring(), [f"r{number}" for number in range(1_500)]
    journal = PaperJournal()
    scoring.gate = trio.Event()
    async with working(base, scoring, journal) as (house, ref):
        await settled(60.0)
        journal.dossiers.update(PaperJournal(*names).dossiers)
        for id in names:  # noqa: A001
            ref.tell(success(id))
        await settled()
        scoring.gate.set()
        await settled(600.0)
        assert written(base).keys() == set(names)
        assert {each.duration for each in written(base).values()} == {2.5}
        assert len(scoring.compared) == len(names)
        assert house["evaluator"].statistics().restarts == 0


async def test_the_journal_is_read_once_after_a_start_a_page_at_a_time_and_only_what_has_no_evaluation_as_a_whole(
    autojump_clock: object,
) -> None:
    base, scoring, journal = PaperBase(), Scoring(), PaperJournal("r1", "r2", bare=1_000)
    stands(base, "r2")
    async with working(base, scoring, journal):
        await settled(600.0)
    assert written(base).keys() == {"r1", "r2"}
    assert journal.read == ["r1"]
    assert len(journal.pages) == 1_002 // PAGE + 2
    pauses = [later - earlier for earlier, later in zip(journal.pages, journal.pages[1:], strict=False)]
    assert sum(pause < evaluator.PAGE_SECONDS for pause in pauses) <= 1, "only after a page that held one"
    async with working(base, scoring, journal):
        await settled(600.0)
    assert journal.read == ["r1"]
    assert len(scoring.compared) == 2


@pytest.mark.parametrize("trouble", ["store", "folder"])
async def test_a_store_or_a_folder_in_trouble_makes_the_journal_be_read_later(
    autojump_clock: object, trouble: str
) -> None:
    base, scoring, journal = PaperBase(), Scoring(), PaperJournal("r1", "r2")
    journal.trouble, base.gone = trouble == "store", "the folder is missing" if trouble == "folder" else None
    async with working(base, scoring, journal) as (house, _):
        await settled(60.0)
        assert scoring.compared == []
        journal.trouble, base.gone = False, None
        await settled(60.0)
        assert house["evaluator"].statistics().restarts == 0
    assert written(base).keys() == {"r1", "r2"}
