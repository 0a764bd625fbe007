"""An index is brought up to date by one update at a time, tells how far it is, and what fails is tried again."""

import logging
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.agent.index import catching_up
from actors.agent.index import indexer as its
from actors.agent.index.catching_up import BEHIND
from actors.agent.index.following import FOLLOW_SECONDS
from actors.agent.index.given import IndexTrouble
from actors.agent.index.indexers import MOST_AWAKE, awake_indexer, wants_to_be_awake
from actors.agent.index.messages import ChangesTold, Find, FollowIndex, IndexAsked, WatchWorkspace
from actors.agent.index.questions import FIND_SECONDS, MOST_AT_ONCE
from actors.agent.index.watch import GONE_SECONDS
from codec.agent.client_messages import FileChange
from codec.agent.index.asking import IndexFindings, IndexQuery
from codec.agent.index.telling import IndexFacts, IndexWish, WatchNews
from codec.agent.workspaces import IndexStatus, Policy, WorkspaceFact
from tests.agent.index.indexer_kit import PATIENCE, IndexHouse, PaperFolders, PaperIndex, PaperIndexes, index_house
from tests.agent.paper_store import PaperDisk

WHOLE, ANEW = IndexWish(), IndexWish(anew=True)


async def searched(house: IndexHouse, fact: WorkspaceFact, **fields: Any) -> IndexFindings:
    found: IndexFindings = await house.ask(fact, partial(Find, IndexQuery(text="a"), **fields))
    return found


async def test_who_only_asks_how_far_an_index_is_begins_nothing_and_the_first_search_does(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        assert (await house.status(fact)).index_status == "pending"
        await trio.sleep(10)
        assert house.index(fact).wishes.entries == []
        found = await searched(house, fact)
        assert not found.complete
        status = await house.ready(fact)
        assert (status.indexed_files, status.total_files, status.index_progress) == (100, 100, 1.0)
        assert house.index(fact).wishes.entries[0] == WHOLE


async def test_in_the_tree_an_indexer_is_called_by_its_workspace(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register("/home/me/garden")
        assert (await house.indexer(fact)).statistics().called == "index of garden"


async def test_the_progress_of_an_update_grows_is_told_ten_times_a_second_at_most_and_ends_ready(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        begun = trio.current_time()
        seen = await house.until(fact, lambda status: status.index_status == "ready")
        took = trio.current_time() - begun
        shares = [status.index_progress for status in seen]
        assert shares == sorted(shares)
        assert {status.index_status for status in seen[:-1]} <= {"pending", "indexing"}
        assert 5 <= len(seen) <= 10 * took + 2
        assert max(shares[:-1]) < 1.0


async def test_who_follows_is_answered_after_a_while_although_nothing_is_new(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        status = await house.ready(fact)
        await trio.sleep(5)
        status = await house.ask(fact, partial(FollowIndex, None))
        before = trio.current_time()
        assert await house.ask(fact, partial(FollowIndex, status)) == status
        assert trio.current_time() - before == pytest.approx(FOLLOW_SECONDS)
        with trio.move_on_after(1):
            await house.ask(fact, partial(FollowIndex, status))
        await searched(house, fact)  # who has given up disturbs nobody


async def test_how_far_an_index_is_stands_in_the_list_of_workspaces_and_is_known_after_a_restart(
    autojump_clock: MockClock
) -> None:
    disk, indexes = PaperDisk(), PaperIndexes()
    async with index_house(disk, indexes) as house:
        fact = await house.register()
        await house.reindex(fact)
        await trio.sleep(0.6)
        half = await house.known(fact.id)
        assert half.index_status == "indexing"
        assert 0 < half.indexed_files < half.total_files == 100
        await house.ready(fact)
        done = await house.known(fact.id)
        assert (done.index_status, done.index_progress, done.indexed_files) == ("ready", 1.0, 100)
        assert done.last_indexed_at is not None
        await trio.sleep(10)
    async with index_house(disk, indexes) as house:
        again = await house.known(fact.id)
        assert (again.index_status, again.last_indexed_at, again.total_files) == ("ready", done.last_indexed_at, 100)
        assert awake_indexer(house.house.stage.registry, fact.id) is None
        indexes.made["/w"].hangs = True
        asked = await house.status(fact)
        assert (asked.index_status, asked.indexed_files) == ("ready", 100), "although its file does not answer"


async def test_how_far_a_long_build_is_is_known_after_a_kill_before_its_indexer_wakes(
    autojump_clock: MockClock,
) -> None:
    disk, indexes = PaperDisk(), PaperIndexes(prepare=lambda index: setattr(index, "seconds", 60.0))
    async with index_house(disk, indexes) as house:
        fact = await house.register()
        await house.reindex(fact)
        await trio.sleep(40)
    async with index_house(disk, indexes) as house:
        known = await house.known(fact.id)
        assert known.index_status == "pending"
        assert 50 <= known.indexed_files <= 70
        assert 0.5 <= known.index_progress <= 0.7


async def test_a_build_that_was_killed_goes_on_from_its_last_commit_without_being_asked(
    autojump_clock: MockClock
) -> None:
    disk, indexes = PaperDisk(), PaperIndexes()
    async with index_house(disk, indexes) as house:
        fact = await house.register(auto_index=True)
        await trio.sleep(0.6)
        assert house.index(fact).ended == []
    half = indexes.made["/w"].facts_now.indexed_files
    assert 0 < half < 100
    async with index_house(disk, indexes) as house:
        assert (await house.known(fact.id)).index_status == "pending", "nothing is told to run that does not"
        seen = await house.until(fact, lambda status: status.index_status == "ready")
        assert min(status.indexed_files for status in seen if status.generation) >= half


async def test_a_rebuild_that_was_killed_at_its_begin_is_not_told_to_be_ready_and_goes_on_by_itself(
    autojump_clock: MockClock
) -> None:
    disk, indexes = PaperDisk(), PaperIndexes()
    async with index_house(disk, indexes) as house:
        fact = await house.register(auto_index=True)
        await house.ready(fact)
        indexes.made["/w"].seconds = 60.0
        await house.reindex(fact, anew=True)
        await trio.sleep(0.02)
        killed = deepcopy(disk)
    async with index_house(killed, indexes) as house:
        assert (await house.known(fact.id)).index_status == "pending"
        assert (await house.ready(fact)).indexed_files == 100


async def test_changes_of_a_watched_folder_are_gathered_while_an_update_runs_and_are_the_next_one(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await trio.sleep(0.5)
        for number in range(10):
            await house.news(fact, f"src/{number}.py", "src/same.py")
        await house.ready(fact)
        await trio.sleep(5)
        first, second = house.index(fact).wishes.entries
        assert first == WHOLE
        assert sorted(second.paths or ()) == sorted([*(f"src/{number}.py" for number in range(10)), "src/same.py"])


async def test_a_file_that_is_saved_is_updated_at_once_and_the_index_stays_ready(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        before = await house.ready(fact)
        await trio.sleep(5)
        await house.news(fact, "src/a.py")
        begun = trio.current_time()
        seen = await house.until(fact, lambda status: status.generation > before.generation)
        assert {status.index_status for status in seen} == {"ready"}
        assert trio.current_time() - begun < 0.2
        assert house.index(fact).wishes.entries[-1] == IndexWish(paths=("src/a.py",))


async def test_thousands_of_changes_at_once_are_one_or_two_updates(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        await trio.sleep(5)
        count = len(house.index(fact).wishes.entries)
        for number in range(50):
            await house.news(fact, *(f"{number}/{each}.py" for each in range(100)))
        await trio.sleep(5)
        further = house.index(fact).wishes.entries[count:]
        assert len(further) <= 2
        assert further[-1] == WHOLE, "a scan is quicker than their list"


async def test_files_that_come_one_by_one_but_fast_are_gathered_too(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        await trio.sleep(5)
        count = len(house.index(fact).wishes.entries)
        for number in range(1500):
            await house.news(fact, f"{number}.py")
            await trio.sleep(0.002)
        await trio.sleep(5)
        further = house.index(fact).wishes.entries[count:]
        assert len(further) <= 30
        assert {path for wish in further for path in wish.paths or ()} == {f"{number}.py" for number in range(1500)}


async def test_a_rebuild_in_the_middle_of_an_update_breaks_it_off_and_begins_anew(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await trio.sleep(0.5)
        await house.reindex(fact, anew=True)
        await house.ready(fact)
        await trio.sleep(5)
        assert house.index(fact).wishes.entries == [WHOLE, ANEW]
        assert house.index(fact).ended == ["cancelled", "done"]


async def test_refreshes_in_the_middle_of_an_update_are_one_more_update(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        for _ in range(5):
            await house.reindex(fact)
        await trio.sleep(10)
        assert house.index(fact).wishes.entries in ([WHOLE], [WHOLE, WHOLE])


@pytest.mark.parametrize("moment", [step / 10 for step in range(12)])
async def test_at_whatever_moment_a_rebuild_comes_the_index_ends_complete(
    autojump_clock: MockClock, moment: float
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await trio.sleep(moment)
        await house.reindex(fact, anew=True)
        status = await house.ready(fact)
        assert status.indexed_files == 100
        assert house.house.trace.of("stop") == []


async def test_a_disk_that_is_full_is_told_and_tried_again_and_questions_are_answered_meanwhile(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.index(fact).trouble = "The disk is full."
        await house.reindex(fact)
        failed = (await house.until(fact, lambda status: status.index_status == "failed"))[-1]
        assert failed.errors == ("The disk is full.",)
        assert (await house.known(fact.id)).index_status == "failed"
        with pytest.raises(IndexTrouble, match=r"The disk is full\."):
            await searched(house, fact)
        house.index(fact).trouble = ""
        status = await house.ready(fact)
        assert status.errors == ()


async def test_what_fails_is_tried_again_after_longer_and_longer_times_and_sooner_if_somebody_asks(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        index = house.index(fact)
        index.trouble = "The disk is full."
        began = trio.current_time()
        await house.indexer(fact)
        await trio.sleep(200)
        assert index.moments("facts") == pytest.approx([began + each for each in (0, 2, 6, 14, 30, 62, 122, 182)])
        for wait, tries in [(0.0, 1), (its.AGAIN_SECONDS / 2, 0), (its.AGAIN_SECONDS / 2, 1)]:
            await trio.sleep(wait)
            index.begun.clear()
            with suppress(IndexTrouble):
                await searched(house, fact)
            await wait_all_tasks_blocked()
            assert len(index.moments("facts")) == tries, "who asks again and again does not make it try so often"
        index.trouble = ""
        await house.reindex(fact)
        await house.ready(fact)
        index.trouble = "The disk is full again."
        index.begun.clear()
        began = trio.current_time()
        await house.reindex(fact)
        await trio.sleep(10)
        assert index.moments("update") == pytest.approx([began])
        assert index.moments("facts") == pytest.approx([began + 2, began + 6]), "after a success it begins anew"


@pytest.mark.parametrize(("count", "waits"), [(its.MANY, 0), (its.MANY + 1, its.GATHER_SECONDS)])
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_change_is_read_at_once_and_one_of_a_flood_waits_for_more(
    autojump_clock: MockClock, count: int, waits: float, at_once: bool
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        await trio.sleep(5)
        index = house.index(fact)
        index.begun.clear()
        paths = [f"{number}.py" for number in range(count)]
        for some in [paths] if at_once else [[path] for path in paths]:
            await trio.sleep(1 / 65)
            await house.news(fact, *some)
        last = trio.current_time()
        await trio.sleep(5)
        assert index.moments("update")[-1] == pytest.approx(last + waits)
        assert [path for wish in index.wishes.entries for path in wish.paths or ()] == paths


async def test_a_folder_that_is_gone_is_told_keeps_its_index_and_is_found_when_it_is_back(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.folders.missing.add("/w")
        await house.reindex(fact)
        failed = (await house.until(fact, lambda status: status.index_status == "failed"))[-1]
        assert failed.errors == ("There is no folder /w.",)
        assert failed.indexed_files == 100
        await trio.sleep(600)
        house.folders.missing.clear()
        before = trio.current_time()
        await house.ready(fact)
        assert trio.current_time() - before <= its.LONGEST_AGAIN + 5


async def test_a_folder_is_not_said_to_be_watched_while_it_is_gone_and_is_indexed_at_once_when_it_is_back(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.folders.missing.add("/w")
        house.watches.gone.set()
        await house.until(fact, lambda status: (status.index_status, status.watching) == ("failed", "off"))
        await trio.sleep(310)
        house.folders.missing.clear()
        house.watches.gone = trio.Event()
        await trio.sleep(2 * GONE_SECONDS)
        await house.news(fact, lost=True)  # it is watched from now on
        before = trio.current_time()
        status = await house.ready(fact)
        assert (status.watching, trio.current_time() - before < its.AGAIN_SECONDS) == ("events", True)


async def test_an_index_whose_file_was_deleted_is_made_again_with_the_next_change(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.index(fact).facts_now = IndexFacts()
        await house.news(fact, "src/a.py")
        await house.until(fact, lambda status: status.index_status == "indexing")
        assert (await house.ready(fact)).indexed_files == 100
        assert house.index(fact).wishes.entries[-2:] == [IndexWish(paths=("src/a.py",)), WHOLE]


async def test_an_index_whose_file_was_deleted_is_made_again_when_a_question_finds_that_out(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.index(fact).facts_now = IndexFacts()
        assert not (await searched(house, fact)).complete
        await house.until(fact, lambda status: status.index_status == "indexing")
        assert (await house.ready(fact)).indexed_files == 100
        assert (await searched(house, fact)).complete
        await house.ready(fact)
        assert house.index(fact).wishes.entries == [WHOLE, WHOLE]


async def test_an_index_that_has_failed_is_not_told_to_be_ready_before_all_is_well(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.folders.missing.add("/w")
        await house.news(fact, lost=True)  # nobody has asked for that update
        failed = (await house.until(fact, lambda status: status.index_status == "failed"))[-1]
        assert failed.errors == ("There is no folder /w.",)
        house.folders.missing.clear()
        seen = await house.until(fact, lambda status: not status.errors)
        assert {status.index_status for status in seen[:-1]} <= {"failed", "indexing"}
        assert seen[-1].index_status == "ready"


@pytest.mark.parametrize("seconds", [0.0, 0.5, 0.99, 1.5, 60.0])
async def test_a_question_after_a_restart_waits_for_the_comparison_with_the_disk_or_its_answer_says_that_it_runs(
    autojump_clock: MockClock, seconds: float
) -> None:
    disk, indexes = PaperDisk(), PaperIndexes()
    async with index_house(disk, indexes) as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
    index = indexes.made["/w"]
    index.seconds = seconds
    async with index_house(disk, indexes) as house:
        updates = len(index.ended)
        began = trio.current_time()
        found = await searched(house, fact)
        took = trio.current_time() - began
        assert found.complete
        assert took < catching_up.PATIENCE + 0.05
        compared = len(index.ended) > updates
        assert compared is (seconds < catching_up.PATIENCE)
        assert found.behind == ("" if compared else BEHIND)
        assert found.is_whole is compared
        assert compared or took == pytest.approx(catching_up.PATIENCE, abs=0.05), "no longer, and no less"
        await trio.sleep(seconds + 1)
        assert (await searched(house, fact)).behind == ""


@pytest.mark.parametrize("saved_after", [0.0, 0.5, 2.0, 8.0])
async def test_an_answer_has_what_was_saved_before_the_question_or_says_that_it_may_be_missing(
    autojump_clock: MockClock, saved_after: float
) -> None:
    """Also while a rebuild, or another update, runs: what was saved is the next one then."""
    async with index_house() as house:
        fact = await house.register(auto_watch=True)
        await house.reindex(fact)
        await house.ready(fact)
        index = house.index(fact)
        index.seconds = 10.0
        await house.reindex(fact)
        await trio.sleep(saved_after)
        await house.news(fact, "src/saved.py")
        began = trio.current_time()
        found = await searched(house, fact)
        assert trio.current_time() - began < catching_up.PATIENCE + 0.1
        assert (found.behind, found.is_whole) == (BEHIND, False)
        await house.ready(fact)
        index.seconds = 1.0
        await trio.sleep(20)
        updates = len(index.ended)
        await house.news(fact, "src/again.py")
        found = await searched(house, fact)
        assert (found.behind, len(index.ended)) == ("", updates + 1), "it was waited for"


async def test_a_question_to_an_index_that_is_being_made_waits_for_nothing(autojump_clock: MockClock) -> None:
    async with index_house(indexes=PaperIndexes(prepare=lambda index: setattr(index, "seconds", 60.0))) as house:
        fact = await house.register()
        began = trio.current_time()
        found = await searched(house, fact)
        assert trio.current_time() - began < 0.1
        assert (found.complete, found.behind) == (False, "")


async def test_what_an_index_says_that_cannot_follow_the_disk_has_the_reason(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        index = house.index(fact)
        find, index.find = index.find, PaperIndex(facts_now=index.facts_now).find  # type: ignore[method-assign]
        index.trouble = "The disk is full."
        await house.reindex(fact)
        await trio.sleep(1)
        found = await searched(house, fact)
        assert found.behind.endswith("The disk is full.")
        assert not found.is_whole
        index.trouble, index.find = "", find  # type: ignore[method-assign]
        await house.reindex(fact)
        await house.ready(fact)
        assert (await searched(house, fact)).is_whole


async def test_an_index_that_wakes_again_compares_before_it_answers(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        house.index(fact).seconds = catching_up.PATIENCE / 2
        for _ in range(2):
            await trio.sleep(3 * its.REST_SECONDS)
            assert awake_indexer(house.house.stage.registry, fact.id) is None
            wishes = len(house.index(fact).ended)
            assert (await searched(house, fact)).behind == ""
            assert len(house.index(fact).ended) == wishes + 1


async def test_so_many_searches_run_at_once_and_one_more_is_refused_until_one_is_over(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        await searched(house, fact)
        await house.ready(fact)
        house.index(fact).hangs = True
        refused: list[tuple[str, float]] = []
        began = trio.current_time()

        async def search() -> None:
            with pytest.raises(IndexTrouble) as trouble:
                await searched(house, fact)
            refused.append((str(trouble.value), trio.current_time() - began))

        async with trio.open_nursery() as nursery:
            for _ in range(MOST_AT_ONCE):
                nursery.start_soon(search)
            await trio.testing.wait_all_tasks_blocked()
            assert refused == []
            await search()
            assert refused == [("Too many searches run at once. Try again in a moment.", 0)]
        late = "The search took too long and was given up. Ask for less at once."
        assert [why for why, _ in refused[1:]] == [late] * MOST_AT_ONCE
        assert [after for _, after in refused[1:]] == pytest.approx([FIND_SECONDS] * MOST_AT_ONCE)
        house.index(fact).hangs = False
        assert (await searched(house, fact)).complete


async def test_a_disk_that_hangs_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        house.folders.hangs = True
        before = trio.current_time()
        await house.reindex(fact)
        failed = (await house.until(fact, lambda status: status.index_status == "failed"))[-1]
        assert trio.current_time() - before <= its.CHECK_SECONDS + 1
        assert failed.errors == ("The disk of /w does not answer.",)
        house.folders.hangs = False
        await house.ready(fact)
        house.index(fact).hangs = True
        with pytest.raises(IndexTrouble, match="took too long"):
            await searched(house, fact)
        await house.reindex(fact)
        before = trio.current_time()
        await house.until(fact, lambda status: status.index_status == "failed")
        assert trio.current_time() - before <= its.STALLED_SECONDS + 1
        house.index(fact).hangs = False
        await house.ready(fact)


@pytest.mark.parametrize("method", ["facts", "update", "find"])
async def test_a_crash_restarts_that_indexer_alone_and_it_goes_on(autojump_clock: MockClock, method: str) -> None:
    async with index_house() as house:
        one, other = await house.register("/w"), await house.register("/other")
        await house.reindex(other)
        house.index(one).crashes = {method}
        with suppress(Exception):  # the asker's end of the crash
            await searched(house, one)
        await house.ready(one)
        await house.ready(other)
        stopped = {entry.path for entry in house.house.trace.of("stop")}
        assert stopped == {f"top/indexers/{one.id}"}
        assert house.index(other).ended == ["done"]


async def test_what_is_told_with_a_false_hash_is_read_and_paths_outside_are_not(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await house.reindex(fact)
        await house.ready(fact)
        await trio.sleep(1)
        told = [
            FileChange(type="modified", file_path=path, content_hash="sha256:false")
            for path in ("src/a.py", "./src/b.py", "../x", "/etc/passwd", ".git/config", "a\0b", "", "src//a.py")
        ]
        status = await house.ask(fact, partial(ChangesTold, tuple(told)))
        assert isinstance(status, IndexStatus)
        await trio.sleep(1)
        assert house.index(fact).wishes.entries[-1] == IndexWish(paths=("src/a.py", "src/b.py"))


async def test_the_policy_holds_in_every_question(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await searched(house, fact)
        assert house.index(fact).readable == {"src/a.py": True, ".git/config": False, "secret/x.py": True}
        await searched(house, fact, policy=Policy(blocked_globs=("secret/**",)))
        assert house.index(fact).readable == {"src/a.py": True, ".git/config": True, "secret/x.py": False}


# -- watching


async def test_where_the_folder_cannot_be_watched_it_is_looked_at_and_the_status_says_why(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        house.watches.trouble = "Raise fs.inotify.max_user_watches"
        await house.reindex(fact)
        await house.ready(fact)
        status = await house.status(fact)
        assert (status.watching, status.message) == ("polling", "Raise fs.inotify.max_user_watches.")
        told, warm = house.watches.looked[fact.path]
        await house.ask(fact, partial(ChangesTold, (FileChange(type="modified", file_path="told.py"),)))
        query = IndexQuery(text="a", active_file="shown.py", open_files=("opened.py",))
        await house.ask(fact, partial(Find, query))
        assert warm() == ("shown.py", "opened.py", "told.py")
        await trio.sleep(10)
        before = len(house.index(fact).wishes.entries)
        told(WatchNews(("found.py",)))
        await trio.sleep(120)
        assert [wish.paths for wish in house.index(fact).wishes.entries[before:]] == [("found.py",)]
        assert (await house.status(fact)).index_status == "ready"
        house.watches.trouble = ""
        await trio.sleep(300)
        assert (await house.status(fact)).watching == "events", "it is tried again"


async def test_who_wished_for_polling_gets_it_and_a_stopped_watch_hears_nothing(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register(use_polling=True)
        await house.reindex(fact)
        await house.ready(fact)
        assert (await house.status(fact)).watching == "polling"
        assert (await house.watch(fact, False)).watching == "off"
        await trio.sleep(60)
        count = len(house.index(fact).wishes.entries)
        await trio.sleep(600)
        assert len(house.index(fact).wishes.entries) == count


async def test_an_index_that_nobody_uses_sleeps_unless_it_is_to_be_watched(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        one, other = await house.register("/one"), await house.register("/other", auto_watch=True)
        await house.reindex(one)
        await house.ready(one)
        await house.ready(other)
        await trio.sleep(2 * its.REST_SECONDS)
        registry = house.house.stage.registry
        assert awake_indexer(registry, one.id) is None
        assert awake_indexer(registry, other.id) is not None
        assert set(house.watches.told) == {"/other"}
        await searched(house, one)
        await wait_all_tasks_blocked()
        assert set(house.watches.told) == {"/one", "/other"}
        await house.watch(other, False)
        await trio.sleep(2 * its.REST_SECONDS)
        assert awake_indexer(registry, other.id) is None


async def test_what_is_to_be_watched_all_the_time_is_watched_after_a_restart(autojump_clock: MockClock) -> None:
    disk, indexes = PaperDisk(), PaperIndexes()
    async with index_house(disk, indexes) as house:
        watched = await house.register("/watched", auto_watch=True)
        await house.register("/other", auto_index=True)
        await house.ready(watched)
        await trio.sleep(60)
    async with index_house(disk, indexes) as house:
        await trio.sleep(60)
        assert set(house.watches.told) == {"/watched"}


async def test_an_index_that_is_deleted_because_nobody_uses_it_is_logged(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "troupe.agent")
    disk, indexes = PaperDisk(), PaperIndexes()
    async with index_house(disk, indexes) as house:
        fact = await house.register("/once")
    indexes.unused = (fact.id, "w-gone")
    async with index_house(disk, indexes):
        await wait_all_tasks_blocked()
    indexes.tidy_trouble = "The disk of the index does not answer."
    async with index_house(disk, indexes) as house:
        await house.ready(await house.register("/other", auto_index=True))
    said = [record.message for record in caplog.records]
    assert [each for each in said if "deleted" in each] == [
        "the index of /once is deleted: nobody has used it for a long time",
        "the index of w-gone is deleted: nobody has used it for a long time",
        "unused indexes are not deleted: The disk of the index does not answer.",
    ]


async def test_at_most_so_many_are_awake_and_the_one_that_was_used_longest_ago_sleeps(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        facts = [await house.register(f"/{number}") for number in range(MOST_AWAKE + 3)]
        for fact in facts[:MOST_AWAKE]:
            await searched(house, fact)
        await trio.sleep(10)
        await searched(house, facts[0])
        for fact in facts[MOST_AWAKE:]:
            await searched(house, fact)
        registry = house.house.stage.registry
        awake = {fact.path for fact in facts if awake_indexer(registry, fact.id) is not None}
        assert awake == {fact.path for fact in facts} - {"/1", "/2", "/3"}


async def test_of_those_that_are_awake_one_whose_update_runs_is_the_last_to_sleep(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        facts = [await house.register(f"/{number}") for number in range(MOST_AWAKE + 2)]
        house.index(facts[0]).seconds = house.index(facts[1]).seconds = 3600.0
        for fact in facts[:MOST_AWAKE]:
            await house.reindex(fact)
        await trio.sleep(10)
        for fact in facts[MOST_AWAKE:]:
            await house.indexer(fact)
        registry = house.house.stage.registry
        awake = {fact.path for fact in facts if awake_indexer(registry, fact.id) is not None}
        assert awake == {fact.path for fact in facts} - {"/2", "/3"}


@pytest.mark.parametrize(
    ("awake", "fact"),
    [
        (False, {}),
        (True, {"auto_watch": True, "index_status": "ready"}),
        (True, {"auto_index": True}),
        (True, {"auto_index": True, "index_status": "indexing"}),
        (False, {"auto_index": True, "index_status": "ready"}),
        (False, {"index_status": "indexing"}),
        (False, {"auto_watch": True, "auto_index": True, "missing": True}),
    ],
)
def test_after_a_restart_those_are_awake_that_are_to_be_watched_or_were_being_made(
    awake: bool, fact: dict[str, Any]
) -> None:
    known = WorkspaceFact(id="w", path="/w", name="w", created_at="", **fact)
    assert wants_to_be_awake(known) is awake


async def test_many_who_want_the_same_sleeping_indexer_wake_it_once(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        seen: list[IndexStatus] = []

        async def ask() -> None:
            seen.append(await house.status(fact))

        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(ask)
        assert len(seen) == 50
        assert house.house.trace.of("stop") == []


async def test_a_hundred_folders_that_are_gone_keep_nobody_from_answering(autojump_clock: MockClock) -> None:
    folders = PaperFolders()
    async with index_house(folders=folders) as house:
        facts = [await house.register(f"/{number}") for number in range(30)]
        folders.hangs = True
        for fact in facts:
            await house.reindex(fact)
        before = trio.current_time()
        for fact in facts:
            assert (await house.status(fact)).index_status in ("indexing", "pending")
        assert trio.current_time() - before < 1


async def test_a_wish_to_watch_outlives_a_crash(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        fact = await house.register()
        await (await house.indexer(fact)).ask(partial(WatchWorkspace, True, True), timeout=PATIENCE)
        await house.ready(fact)
        house.index(fact).crashes = {"find"}
        with suppress(Exception):
            await searched(house, fact)
        await trio.sleep(5)
        assert (await house.ask(fact, IndexAsked)).watching == "polling"


async def test_when_an_update_is_over_the_missing_vectors_are_asked_for_and_hold_up_nothing(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        index = house.index(fact)
        index.vectors, index.embed_seconds = 500, 60.0
        await house.reindex(fact)
        await house.ready(fact)
        seen = await house.until(fact, lambda status: bool(status.message))
        assert "250 of 0 passages can be found by their meaning" in seen[-1].message
        assert seen[-1].mode == "text_only"
        begun = trio.current_time()
        await house.ask(fact, partial(ChangesTold, (FileChange(type="modified", file_path="a.py"),)))
        await trio.sleep(5)
        assert len(index.wishes.entries) >= 2  # a save is found meanwhile
        full = await house.until(fact, lambda status: status.mode == "full")
        assert trio.current_time() - begun <= 70
        assert "passages" not in full[-1].message
        await trio.sleep(100)
        assert index.embedded == 2  # once more for what was saved meanwhile


async def test_an_embedding_model_that_is_away_is_told_and_asked_again_and_the_index_stays_ready(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        index = house.index(fact)
        index.vectors, index.embed_trouble = 500, "Ollama is away."
        await house.reindex(fact)
        seen = await house.until(fact, lambda status: "Ollama is away." in status.errors)
        assert seen[-1].index_status == "ready"
        await trio.sleep(40)
        tries = index.embedded
        assert 3 <= tries <= 5
        await searched(house, fact)
        assert index.embedded == tries
        index.embed_trouble = ""
        full = await house.until(fact, lambda status: status.mode == "full")
        assert full[-1].errors == ()


async def test_a_question_that_shows_that_the_vectors_are_another_models_has_them_made_anew(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        fact = await house.register()
        index = house.index(fact)
        index.vectors = 500
        await house.reindex(fact)
        await house.until(fact, lambda status: status.mode == "full")
        await searched(house, fact)
        await trio.sleep(10)
        assert index.embedded == 1
        index.other_vectors = True
        await searched(house, fact)
        await trio.sleep(10)
        assert index.embedded == 2
