"""What a turn searches goes by the index: with places that are true on the disk, within the policy; and without an
index, or while it is made, by reading the files."""

from functools import partial

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.agent.gathering import retrieve
from actors.agent.index.indexed import IndexedTree
from actors.agent.index.searching import FIND_SECONDS, IndexAsker, chosen_lines, live
from actors.agent.readable import ReadableTree
from actors.agent.tools import NO_VECTORS, TOOLS, SearchSymbols, SearchText, VectorSearch
from codec.agent.files import digest_of
from codec.agent.index.asking import IndexFindings, IndexHit, Reason, StageCount
from codec.agent.index.telling import IndexFacts
from codec.agent.workspaces import Policy
from tests.agent.index.indexer_kit import IndexHouse, LookedTree, PaperIndex, index_house

FILES = {
    "src/auth.py": "import os\n\n\ndef login(user):\n    return check(user)\n\n\ndef check(user):\n    return True\n",
    "src/use.py": "from auth import login\n\nlogin('ann')\n",
    "docs/login.md": "# How to login\n\nCall login.\n",
    "secret/login.py": "def login():\n    pass\n",
}


def digest(path: str) -> str:
    return digest_of(FILES[path].encode())


def place(path: str, first: int, last: int, symbol: str = "", score: float = 1.0, said: str = "has login") -> IndexHit:
    stage = "symbol_search" if symbol else "text_search"
    return IndexHit(
        path=path, first_line=first, last_line=last, score=score, symbol=symbol, kind="function" if symbol else "",
        digest=digest(path), reasons=(Reason(stage, said, score),),  # type: ignore[arg-type]
    )  # fmt: skip


FOUND = IndexFindings(
    hits=(place("src/auth.py", 4, 5, "login", 9.0, "defines login"), place("src/use.py", 1, 3, "", 2.0)),
    stages=(StageCount("symbol_search", 1), StageCount("text_search", 3), StageCount("reranking", 2)),
    words=("login",),
)


async def tree_of(
    house: IndexHouse,
    files: dict[str, str],
    found: IndexFindings | None,
    policy: Policy | None = None,
    seconds: float = 0.1,
) -> IndexedTree:
    """`seconds`: that its comparison with the disk takes."""
    fact = await house.register()
    index = house.index(fact)
    policy = policy or Policy(blocked_globs=("secret/**",))
    if found is not None:
        index.facts_now = IndexFacts(complete=found.complete, total_files=4, indexed_files=4)
        index.seconds = seconds

        async def find(self: PaperIndex, query: object, readable: object) -> IndexFindings:
            await self._begin("find")
            return found

        index.find = partial(find, index)  # type: ignore[method-assign]
    tree = ReadableTree(LookedTree(files), policy)
    return IndexedTree(tree, IndexAsker(house.house.stage.registry, fact.id, policy))


async def test_each_stage_that_was_run_is_told_with_its_count_and_each_item_with_its_reason(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        tree = await tree_of(house, FILES, FOUND)
        found = await retrieve(tree, "What does login(user) do?", 4000)
        assert found is not None
        assert [(each.stage, each.count) for each in found.stages] == [
            ("symbol_search", 1),
            ("text_search", 3),
            ("reranking", 2),
        ]
        assert found.stages[0].sentence == "Found 1 definition for login and user"
        assert [(item.source, item.score, item.reason) for item in found.items] == [
            ("src/auth.py:4-5", 9.0, "defines login"),
            ("src/use.py:1-3", 2.0, "has login"),
        ]
        assert all(item.tokens > 0 for item in found.items)
        assert found.materials[0].text == "4\tdef login(user):\n5\t    return check(user)"


async def test_what_fits_into_the_budget_is_taken_in_the_order_of_its_rank(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        tree = await tree_of(house, FILES, FOUND)
        whole = await retrieve(tree, "What does login(user) do?", 4000)
        assert whole is not None
        found = await retrieve(tree, "What does login(user) do?", whole.items[0].tokens + 1)
        assert found is not None
        assert [item.source for item in found.items] == ["src/auth.py:4-5"]


async def test_a_place_that_has_moved_is_shown_where_it_is_now_and_one_that_is_gone_is_not(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        changed = FILES | {"src/auth.py": "# new\n" * 20 + FILES["src/auth.py"], "src/use.py": "nothing\n"}
        tree = await tree_of(house, changed, FOUND)
        moved = await live(tree, FOUND.hits[0], ("login",), 40)
        assert moved is not None
        assert (moved.first, moved.last) == (24, 25)
        assert moved.text.text == "def login(user):\n    return check(user)\n"
        assert [line.number for line in chosen_lines(moved, ("login",))] == [24]
        assert await live(tree, FOUND.hits[1], ("login",), 40) is None
        assert await live(tree, place("docs/login.md", 1, 3), ("login",), 40) is not None
        changed["src/auth.py"] = FILES["src/auth.py"].replace("login", "sign_in")
        tree = await tree_of(house, changed, FOUND)
        assert await live(tree, FOUND.hits[0], ("login", "user"), 40) is None, "it defines that no more"
        piece = replace(FOUND.hits[0], kind="")
        other = await live(tree, piece, ("user",), 40)
        assert other is not None
        assert (other.hit.symbol, other.text.text.split("\n")[0]) == ("", "def sign_in(user):")
        del changed["docs/login.md"]
        assert await live(await tree_of(house, changed, FOUND), place("docs/login.md", 1, 3), (), 40) is None


async def test_what_the_policy_forbids_is_shown_by_no_search_although_the_index_tells_it(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        told = IndexFindings(hits=(place("secret/login.py", 1, 2, "login"), *FOUND.hits), stages=FOUND.stages)
        tree = await tree_of(house, FILES, told)
        found = await retrieve(tree, "What does login(user) do?", 4000)
        assert found is not None
        assert not any("secret" in item.source for item in found.items)
        for name, wanted in (("search_text", SearchText("login")), ("search_symbols", SearchSymbols("login"))):
            use = TOOLS[name].use
            assert use is not None
            assert "secret" not in (await use(tree, wanted)).text


async def test_the_tools_tell_the_index_s_places_with_lines_as_they_are(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        tree = await tree_of(house, FILES, FOUND)
        text, symbols = TOOLS["search_text"].use, TOOLS["search_symbols"].use
        assert text is not None
        assert symbols is not None
        told = await text(tree, SearchText("login"))
        assert told.text.startswith("2 files for: login\nsrc/auth.py (1 line)\n  4\tdef login(user):")
        assert told.more["files"] == ["src/auth.py", "src/use.py"]
        found = await symbols(tree, SearchSymbols("login"))
        assert found.more["places"] == ["src/auth.py:4"]


async def test_what_changed_while_nobody_watched_is_found_by_reading_if_the_comparison_takes_long(
    autojump_clock: MockClock
) -> None:
    async with index_house() as house:
        tree = await tree_of(house, FILES | {"src/new.py": "def login(later):\n    pass\n"}, FOUND, seconds=60)
        search = TOOLS["search_text"].use
        assert search is not None
        assert "src/new.py" in (await search(tree, SearchText("login"))).more["files"]
        found = await retrieve(tree, "What does login(user) do?", 4000)
        assert found is not None
        assert any(item.source.startswith("src/new.py") for item in found.items)


async def test_while_the_index_is_made_reading_the_files_fills_it_up(autojump_clock: MockClock) -> None:
    async with index_house() as house:
        part = IndexFindings(hits=FOUND.hits[1:], stages=(StageCount("text_search", 1),), complete=False)
        tree = await tree_of(house, FILES, part)
        hits = await tree.search(["login", "ann"], most=10)
        assert hits[0].path == "src/use.py"
        assert {hit.path for hit in hits} == {"src/use.py", "src/auth.py", "docs/login.md"}
        found = await retrieve(tree, "What does login(user) do?", 4000)
        assert found is not None
        assert [(each.stage, each.count) for each in found.stages] == [("text_search", 3)]
        assert {item.source.partition(":")[0] for item in found.items} == {hit.path for hit in hits}


@pytest.mark.parametrize(
    ("words", "first"), [("login", "src/auth.py"), ("use.py", "src/use.py"), ("auth", "src/auth.py")]
)
async def test_while_the_index_is_made_what_is_named_comes_first_and_nothing_pushes_it_out(
    autojump_clock: MockClock, words: str, first: str
) -> None:
    text = "from auth import login\nlogin()\nsee use.py\n"
    files = FILES | {f"uses/{number}.py": text for number in range(30)}
    part = tuple(
        IndexHit(path=f"uses/{number}.py", first_line=1, last_line=2, score=30.0 - number) for number in range(30)
    )
    async with index_house() as house:
        found = IndexFindings(hits=part, stages=(StageCount("text_search", 30),), complete=False)
        tree = await tree_of(house, files, found)
        for most in (5, 20, 40):
            for hits in (await tree.search([words], most=most), await tree.defining(words, most)):
                assert hits[0].path == first
                assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
                assert len(hits) == len({hit.path for hit in hits}) <= most


@pytest.mark.parametrize("how", ["trouble", "hangs"])
async def test_without_an_index_a_turn_reads_the_files_soon_and_says_why(autojump_clock: MockClock, how: str) -> None:
    async with index_house() as house:
        tree = await tree_of(house, FILES, FOUND)
        index = house.indexes.made["/w"]
        if how == "trouble":
            index.trouble = "The disk is full."
        else:
            index.hangs = True
        before = trio.current_time()
        found = await retrieve(tree, "What does login(user) do?", 4000)
        assert trio.current_time() - before <= FIND_SECONDS + 0.5
        assert found is not None
        (stage,) = found.stages
        assert stage.sentence.startswith("Found 3 files for login and user")
        assert ("The disk is full." if how == "trouble" else "not answered in time") in stage.sentence
        assert found.items


async def test_vector_search_tells_places_by_their_meaning_within_the_policy_and_without_vectors_the_words(
    autojump_clock: MockClock
) -> None:
    use = TOOLS["vector_search"].use
    assert use is not None
    meant = (place("secret/login.py", 1, 2), place("src/auth.py", 8, 9))
    async with index_house() as house:
        tree = await tree_of(house, FILES, IndexFindings(hits=meant, stages=(StageCount("vector_search", 2),)))
        told = await use(tree, VectorSearch("who may come in"))
        assert told.text == (
            "1 file for: who may come in\nsrc/auth.py (2 lines)\n  8\tdef check(user):\n  9\treturn True"
        )
        assert told.more == {"results_count": 1, "files": ["src/auth.py"], "mode": "vectors"}
        tree = await tree_of(house, FILES, IndexFindings())
        assert (await use(tree, VectorSearch("login"))).text.startswith(NO_VECTORS)
        tree = await tree_of(house, FILES, IndexFindings(by_words_only="Why it went by words."))
        told = await use(tree, VectorSearch("login"))
        assert told.text.startswith("Why it went by words. The words are found here:\n")
        assert told.more["mode"] == "text_only"
