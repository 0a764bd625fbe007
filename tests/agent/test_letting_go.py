"""Images of files: of what is refused nothing stays in the store, and nothing is missing that an event names."""

import itertools
from collections.abc import Sequence

import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agent.images import IN_DOUBT, SPACE, Images
from actors.agent.letting_go import LettingGo
from actors.agent.log import SessionLog, new_row
from actors.agent.record import SessionRecord
from actors.kernel.testing import run_in_virtual_time, staged
from codec.agent.action_events import FileChanged
from codec.agent.kept import SessionRow, read_row
from codec.agent.models import SaidText
from codec.agent.sessions import SessionFact
from tests.agent.paper_store import Paper, PaperDisk, paper_spec
from tests.agent.session_kit import Screen, Stay, until
from tests.agent.test_session_with_hands import EDIT, Workplace, final, request
from tests.agent.turn_kit import REMOTE, STOP, Script, call


def images(paper: Paper, id: str) -> set[str]:  # noqa: A002
    """Those of the session that are in the store. Each of them is noted."""
    head = f"{id} image ".encode()
    found = {digest for digest, data in paper.blobs.items() if data.startswith(head)}
    assert found <= notes(paper)
    return found


def notes(paper: Paper, space: str = SPACE) -> set[str]:
    return {key.partition("/")[2] for each, key in paper.pairs if each == space}


async def named(here: Stay, id: str) -> tuple[set[str], set[str]]:  # noqa: A002
    """By events, and by the requests that wait."""
    changes = [each for each in await SessionLog(here.registry, id).deeds() if isinstance(each, FileChanged)]
    waiting = read_row(here.disk.paper.pairs["agent/session", id]).pending
    return (
        {blob for each in changes for blob in (each.before, each.after) if blob},
        {blob for each in waiting for blob in (each.base, each.content) if blob},
    )


async def nothing_in_doubt(here: Stay, id: str) -> None:  # noqa: A002
    await until(lambda: not notes(here.disk.paper, IN_DOUBT))
    by_events, waiting = await named(here, id)
    assert waiting == set()
    assert images(here.disk.paper, id) == by_events == notes(here.disk.paper)


def test_what_is_refused_leaves_no_image_and_what_is_done_leaves_both() -> None:
    async def test() -> None:
        place = Workplace(EDIT, EDIT)
        async with place.stay() as here:
            id, ann = await place.begin(here)  # noqa: A001
            first = await request(ann)
            assert len(images(here.disk.paper, id)) == 2
            await ann.answer(first, approved=False)
            await until(lambda: len(ann.of("patch.proposed")) == 2)
            await ann.answer(await request(ann))
            await final(ann)
            await nothing_in_doubt(here, id)
            assert len(images(here.disk.paper, id)) == 2

    run_in_virtual_time(test)


def test_what_is_said_right_after_a_look_names_its_images_at_the_next_one() -> None:
    async def test() -> None:
        async with staged(paper_spec(PaperDisk())) as house, trio.open_nursery() as nursery:
            registry = house.stage.registry
            fact = SessionFact(id="s", workspace_id="w", created_at="", updated_at="")
            await new_row(registry, SessionRow(fact=fact))
            record = await SessionRecord.opened(registry, "s", lambda row: None)
            assert record is not None
            nursery.start_soon(record.writing.serve)
            letting_go, kept = LettingGo(record), Images(registry, "s")
            for number in range(3):
                letting_go.begin()
                digest = await kept.keep(b"%d" % number)
                record.say(changed(str(number), digest))
                await letting_go.look()
                assert (await kept.get(digest), await kept.in_doubt()) == (b"%d" % number, [])
            await record.writing.close()

    run_in_virtual_time(test)


def changed(change_id: str, after: str) -> FileChanged:
    return FileChanged(
        change_id=change_id, turn_id="t", file_path="a.py", action="create", status="done", before=None, after=after,
        before_hash=None, after_hash="sha256:0",
    )  # fmt: skip


def test_a_suspended_turn_keeps_its_images_until_it_is_cancelled() -> None:
    async def test() -> None:
        place = Workplace(EDIT)
        async with place.stay() as here:
            id, ann = await place.begin(here)  # noqa: A001
            await request(ann)
            paper = here.disk.paper.copy()
        async with place.stay(paper) as here:
            here.model, here.policy = REMOTE, place.policy
            ben = Screen("ben")
            await here.connect(ben, id, 0)
            await until(lambda: ben.of("session.state"))
            await trio.sleep(10)
            _, waiting = await named(here, id)
            assert images(here.disk.paper, id) == waiting
            assert len(waiting) == 2
            await ben.cancel()
            await final(ben)
            await nothing_in_doubt(here, id)
            assert images(here.disk.paper, id) == set()

    run_in_virtual_time(test)


WRITES = [call("write_file", file_path="a.py", content=f"x = {number}\n") for number in range(3)]
steps = st.lists(
    st.tuples(st.sampled_from((0, 1, 2)), st.sampled_from(("yes", "no", "cancel", "kill", "yes and kill"))),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60)
@given(steps, st.lists(st.floats(0, 0.03), min_size=5, max_size=5))
def test_after_any_turns_and_kills_exactly_the_images_are_there_that_events_name(
    drawn: Sequence[tuple[int, str]], moments: Sequence[float]
) -> None:
    """Contents come again, so what one turn was refused is what another has done."""

    async def test() -> None:
        place = Workplace()
        turns = itertools.chain.from_iterable(([WRITES[n], STOP], [SaidText("Done."), STOP]) for n, _ in drawn)
        place.script = Script(*turns, *([SaidText("Done."), STOP] for _ in range(20)))
        paper, id = None, ""  # noqa: A001
        left = list(zip(drawn, moments, strict=False))
        while left:
            async with place.stay(paper) as here:
                id, ann = await attached(here, place, id)  # noqa: A001
                killed = False
                while left and not killed:
                    (_, what), moment = left.pop(0)
                    killed = what.endswith("kill")
                    await turn(ann, what)
                    await trio.sleep(moment if killed else 0)
                    by_events, _ = await named(here, id)
                    assert by_events <= images(here.disk.paper, id)
                paper = here.disk.paper.copy()
        async with place.stay(paper) as here:
            id, ann = await attached(here, place, id)  # noqa: A001
            await nothing_in_doubt(here, id)

    run_in_virtual_time(test)


async def attached(here: Stay, place: Workplace, id: str) -> tuple[str, Screen]:  # noqa: A002
    """A client of the session, whose turn is over."""
    here.model, here.policy = REMOTE, place.policy
    id = id or (await here.create()).id  # noqa: A001
    ann = Screen("ann")
    await here.connect(ann, id, 0)
    await until(lambda: ann.of("session.state"))
    by_events, waiting = await named(here, id)
    assert by_events | waiting <= images(here.disk.paper, id)
    while ann.state["running"]:
        await until(lambda: ann.state["pending_approvals"] or not ann.state["running"])
        for asked in ann.state["pending_approvals"]:
            await ann.answer(asked, approved=False)
        await trio.sleep(0.1)
    return id, ann


async def turn(ann: Screen, what: str) -> None:
    """A turn that proposes changes. Where a file is so already, nothing is asked."""
    before = len(ann.of("assistant.message_final"))

    def over() -> bool:
        return len(ann.of("assistant.message_final")) > before and not ann.state["running"]

    await ann.ask("Do it")
    while True:
        await until(lambda: ann.state["pending_approvals"] or over())
        if over() or what == "kill":
            return
        if what == "cancel":
            await ann.cancel()
        for asked in ann.state["pending_approvals"]:
            await ann.answer(asked, approved=what.startswith("yes"))
        if what.endswith("kill"):
            return
        await trio.sleep(0.05)
