"""The shelf: which problems there are, what is set, whom it tells."""

import pytest
import trio

from actors.judge.shelf import TOLD_WHOLE
from actors.store import STORE, Refused, StateDirectory, StoreClient
from actors.store.database import Database
from actors.store.messages import Write
from codec.judge import Compare, RunSettings
from tests.judge.kit import FULL, Court, Folders, Json, Machine, Page, judging, right

A, B, C = "abc1/abc1_a", "abc1/abc1_b", "abc1/abc1_c"


def batch(size: int, name: str = "b1") -> Json:
    return {"batch": {"id": name, "size": size}}


async def listed(page: Page) -> list[str]:
    return [problem["id"] for problem in (await page.heard("state/problems"))["problems"]]


async def shown(court: Court, page: Page) -> str:
    """Which problem the page has in front of it."""
    await court.settled()
    return str([said for said in page.told if said["type"] in ("state/init", "state/update")][-1]["problem"]["id"])


# -- problems


async def test_a_page_is_told_of_all_problems_and_which_is_the_newest(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A, B)
        page = await court.page(greets=False)
        told = await page.heard("state/problems")
        assert [problem["id"] for problem in told["problems"]] == [A, B]
        assert told["current"] == B
        assert told["problems"][0]["cases"] == 3


async def test_many_posts_are_told_a_few_times_a_second(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        await court.take_in(*(f"abc1/abc1_{letter}" for letter in "abcdefghij"), **batch(10))
        assert page.listed == []
        assert len(await listed(page)) == 10
        await court.settled()
        assert len(page.all("state/problems")) == 2


async def test_of_a_long_list_only_what_has_changed_is_told_again(directory: StateDirectory) -> None:
    """And every page knows all of it: one that saw all changes, and one that came in the middle of them."""
    old = [f"old/p{number:02}" for number in range(TOLD_WHOLE + 10)]
    files = {(*task.split("/"), *file): b"1\n" for task in old for file in (("tests", "1.in"), ("tests", "1.out"))}
    async with judging(directory, Folders(files)) as court:
        early = await court.page()
        await court.take_in(A, B)
        late = await court.page()
        await court.take_in(C)
        await late.say("ui/forget", id=old[7])
        await court.take_in(A, name="posted again")
        await court.settled()
        latest = await court.page()
        wanted = latest.all("state/problems")[-1]["problems"]
        assert [each["id"] for each in wanted] == [*old[:7], *old[8:], B, C, A]
        for page in (early, late):
            assert len(page.all("state/problems")) == 1
            assert page.knows() == wanted
            changed = page.all("state/problemsChanged")
            assert sum(len(each.get("problems", ())) + len(each.get("gone", ())) for each in changed) < 12
        await early.say("ui/openProblem", id=C)  # it is one of those that the panel knows
        assert (await early.heard("state/init", lambda said: said["problem"]["id"] == C))["problem"]["cases"]


async def test_a_posted_problem_is_shown(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        await court.take_in(A)
        assert await shown(court, page) == A
        await court.take_in(B)
        assert await shown(court, page) == B


async def test_of_a_contest_the_first_problem_stays_in_front(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        for task in (A, B, C):
            await court.take_in(task, **batch(3))
        assert await shown(court, page) == A


async def test_a_contest_takes_a_page_from_another_problem_once(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in("abc0/abc0_a")
        page = await court.page()
        await court.take_in(A, **batch(2))
        await court.take_in(B, **batch(2))
        assert await shown(court, page) == A


async def test_two_problems_of_one_folder_name_get_two_folders_and_the_same_the_same(
    directory: StateDirectory,
) -> None:
    def fields(site: str) -> Json:
        return {"url": f"https://{site}/x", "group": "Club", "name": "Sums"}

    async with judging(directory) as court:
        for site in ("one.example", "two.example", "one.example"):
            await court.take_in(A, **fields(site))
        assert sorted((await court.page()).listed) == ["club/sums", "club/sums-2"]
    async with judging(directory, court.folders) as court:
        await court.take_in(A, **fields("two.example"))
        assert (await court.page()).listed == ["club/sums", "club/sums-2"]


@pytest.mark.parametrize("off", [False, True])
async def test_however_many_cannot_be_written_a_folder_stays_that_of_its_problem(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch, off: bool
) -> None:
    monkeypatch.setattr("actors.judge.shelf.MOST_PLACES", 3)
    full = False
    folders = Folders(trouble=lambda call, task: FULL if call == "add" and full else None)
    async with judging(directory, folders) as court:
        await court.take_in(A, url="https://one.example/x", group="Club", name="Sums")
        page = await court.page()
        if off:
            await page.say("ui/forget", id="club/sums")
        await court.settled()
        full = True
        await court.take_in(*(f"abc1/abc1_{letter}" for letter in "abcdefgh"))
        full = False
        await court.take_in(A, url="https://two.example/x", group="Club", name="Sums")
        await trio.sleep(1)
        assert ("club", "sums-2", "main.py") in folders.files
        assert len([path for path in folders.files if path[:2] == ("club", "sums")]) == 7


async def test_folders_that_were_there_before_are_problems_too(directory: StateDirectory) -> None:
    folders = Folders()
    folders.files = {
        ("old", "sums", "tests", "1.in"): b"1\n",
        ("old", "sums", "tests", "1.out"): b"1\n",
        ("old", "sums", "main.py"): b"pass\n",
    }
    async with judging(directory, folders, Machine(right)) as court:
        page = await court.page()
        assert page.listed == ["old/sums"]
        assert "cases" not in page.all("state/problems")[-1]["problems"][0]  # nobody has looked
        await page.say("ui/openProblem", id="old/sums")
        assert (await page.heard("state/init"))["problem"]["name"] == "sums"
        await page.say("ui/runAll")
        assert (await page.ended())[1]["summary"]["passed"] == 1
        await trio.sleep(1)
        assert page.all("state/problems")[-1]["problems"][0]["cases"] == 1


async def test_a_folder_that_was_only_run_belongs_to_the_first_problem_of_its_name(directory: StateDirectory) -> None:
    folders = Folders({("club", "sums", "tests", f"1.{kind}"): b"1\n" for kind in ("in", "out")})
    folders.files["club", "sums", "main.py"] = b"pass\n"
    async with judging(directory, folders, Machine(right)) as court:
        page = await court.page()
        await page.say("ui/openProblem", id="club/sums")
        await page.say("ui/runAll")
        await page.ended()
        await court.settled()
    async with judging(directory, folders) as court:
        await court.take_in(A, url="https://one.example/x", group="Club", name="Sums")
        assert (await court.page()).listed == ["club/sums"]


async def test_a_workspace_that_cannot_be_looked_through_is_an_empty_one(directory: StateDirectory) -> None:
    folders = Folders(trouble=lambda call, task: PermissionError(13, "Permission denied"))
    async with judging(directory, folders) as court:
        assert (await court.page()).listed == []


async def test_so_many_problems_are_remembered_and_the_oldest_forgotten(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.shelf.MOST", 3)
    folders = Folders()
    async with judging(directory, folders) as court:
        for number in range(1, 6):
            await court.take_in(f"abc{number}/abc{number}_a")
        assert (await court.page()).listed == [f"abc{number}/abc{number}_a" for number in (3, 4, 5)]
        assert ("abc1", "abc1_a", "tests", "1.in") in folders.files
    async with judging(directory, folders) as court:
        assert (await court.page()).listed == [f"abc{number}/abc{number}_a" for number in (3, 4, 5)]


async def test_what_was_posted_is_remembered_rather_than_what_was_found(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.shelf.MOST", 3)
    folders = Folders({("old", f"t{number}", "tests", "1.in"): b"" for number in range(9)})
    async with judging(directory, folders) as court:
        await court.take_in(A)
    async with judging(directory, folders) as court:
        await court.take_in(B)
        assert (await court.page()).listed[-2:] == [A, B]


async def test_a_problem_that_was_forgotten_can_be_posted_anew(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.judge.shelf.MOST", 1)
    async with judging(directory) as court:
        await court.take_in(A, B, A)
        assert (await court.page()).listed == [A]
        assert len([path for path in court.folders.files if path[1] == "abc1_a"]) == 7


async def test_when_the_shelf_crashes_panels_stay_and_are_told_again(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        await court.take_in(A)
        page = await court.page()
        court["shelf"].kill()
        assert await listed(page) == [A]
        await court.take_in(B)
        assert await shown(court, page) == B
        assert await listed(page) == [A, B]
        await page.say("ui/switchInterpreter", interpreter="pypy")
        assert (await page.heard("state/init"))["settings"]["interpreter"] == "pypy"


async def test_whoever_asks_while_the_shelf_is_being_restarted_is_answered_afterwards(
    directory: StateDirectory,
) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        court["shelf"].kill()
        await page.say("ui/runAll")
        assert (await page.ended())[0] == [1, 2, 3]


# -- settings


async def test_a_change_is_told_to_all_panels_and_kept(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page, other = await court.page(), await court.page()
        await page.say("ui/updateSettings", settings={"timeoutMs": 500, "compare": {"mode": "tokens"}})
        for each in (page, other):
            settings = (await each.heard("state/init"))["settings"]
            assert (settings["timeoutMs"], settings["compare"]["mode"]) == (500, "tokens")
    async with judging(directory) as court:
        page = await court.page(greets=False)
        assert (await page.greet())["settings"]["timeoutMs"] == 500


async def test_a_change_does_not_lose_what_the_page_shows(directory: StateDirectory) -> None:
    async with judging(directory, machine=Machine(right)) as court:
        await court.take_in(A)
        page = await court.page()
        await page.say("ui/runAll")
        await page.ended()
        await page.say("ui/switchInterpreter", interpreter="pypy")
        init = await page.heard("state/init")
        assert (init["problem"]["id"], len(init["results"]), init["summary"]["passed"]) == (A, 3, 3)


async def test_only_what_was_changed_is_kept_so_that_the_configuration_shows_through(
    directory: StateDirectory,
) -> None:
    async with judging(directory, configured=RunSettings(jobs=2)) as court:
        page = await court.page()
        await page.say("ui/updateSettings", settings={"timeoutMs": 500, "compare": {"caseSensitive": False}})
        await page.heard("state/init")
    configured = RunSettings(jobs=5, timeout_ms=900, compare=Compare(mode="tokens"))
    async with judging(directory, configured=configured) as court:
        page = await court.page(greets=False)
        settings = (await page.greet())["settings"]
        assert (settings["jobs"], settings["timeoutMs"]) == (5, 500)
        assert settings["compare"] == {"mode": "tokens", "caseSensitive": False, "tolerance": 1e-6}


async def test_a_change_back_to_the_configuration_is_none(directory: StateDirectory) -> None:
    async with judging(directory) as court:
        page = await court.page()
        for interpreter in ("pypy", "cpython"):
            await page.say("ui/switchInterpreter", interpreter=interpreter)
            await page.heard("state/init")
        store = StoreClient(court.house.stage.registry.get(STORE))
        assert await store.get("judge", "settings") == b"{}"


async def test_a_change_that_cannot_be_kept_is_refused_in_words_and_told_to_nobody(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(database: Database, jobs: list[Write]) -> list[object]:
        return [Refused("the disk is full") for _ in jobs]

    async with judging(directory) as court:
        page = await court.page()
        monkeypatch.setattr(Database, "execute", refuse)
        await page.say("ui/switchInterpreter", interpreter="pypy")
        assert await page.notice() == "The settings were not changed: the disk is full"
        await page.say("ui/requestInit")
        assert (await page.heard("state/init"))["settings"]["interpreter"] == "cpython"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"timeoutMs": -1}, "timeoutMs must be a whole number of milliseconds"),
        ({"interpreter": "ruby"}, 'interpreter must be "cpython" or "pypy", not "ruby"'),
        ({"speed": 3}, '"speed" is not a setting'),
    ],
)
async def test_a_wrong_setting_is_refused_in_words(directory: StateDirectory, changes: Json, sentence: str) -> None:
    async with judging(directory) as court:
        page = await court.page()
        await page.say("ui/updateSettings", settings=changes)
        assert sentence in await page.notice()


@pytest.mark.parametrize(
    "odd", ['"jobs":"many"', '"colour":"red"', '"compare":"exactly"', '"compare":{"mode":"by ear","near":1}']
)
async def test_of_the_settings_of_another_version_those_that_make_sense_hold(
    directory: StateDirectory, odd: str
) -> None:
    kept = f'{{"timeoutMs":700,{odd},"memoryLimitMb":64}}'.encode()
    async with judging(directory) as court:
        await StoreClient(court.house.stage.registry.get(STORE)).put("judge", "settings", kept)
    async with judging(directory, configured=RunSettings(jobs=4)) as court:
        page = await court.page(greets=False)
        settings = (await page.greet())["settings"]
        assert (settings["jobs"], settings["timeoutMs"], settings["memoryLimitMb"]) == (4, 700, 64)
        assert settings["compare"]["mode"] == RunSettings().compare.mode
