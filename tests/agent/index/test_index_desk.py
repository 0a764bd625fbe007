"""What the port asks about an index is answered soon: from the indexer, or from what the workspace knows."""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from actors.agent.given import FileRefused
from actors.agent.index.catching_up import BEHIND
from actors.agent.index.desk import (
    BEGINS,
    CROWDED,
    MOST_READERS,
    PLAIN_SECONDS,
    STATUS_SECONDS,
    TURN_SECONDS,
    IndexDesk,
)
from actors.agent.index.following import FOLLOW_SECONDS
from actors.agent.index.searching import FIND_SECONDS
from actors.agent.index.telling import HIDDEN
from actors.agent.messages import WORKSPACES, ChangePolicy
from actors.agent.workspaces import workspaces_spec
from actors.kernel import NobodyThere
from actors.kernel.testing import staged
from codec.agent.files import FileHit, TreeEntry
from codec.agent.index.asking import IndexFindings, IndexHit, Reason, StageCount
from codec.agent.index.telling import IndexFacts
from codec.agent.refusing import ContractRefusal
from codec.agent.workspaces import PolicyChange, WorkspaceFact
from tests.agent.index.indexer_kit import IndexHouse, LookedTree, PaperFolders, PaperIndexes, index_house, wall
from tests.agent.paper_store import PaperDisk, paper_spec
from tests.agent.turn_kit import MemoryTree, MemoryTrees

FILES = {"src/a.py": "one = 1\nword = one\n", "src/b.py": "word\n", ".git/config": "word\n"}


@asynccontextmanager
async def desk(**given: Any) -> AsyncIterator[tuple[IndexHouse, IndexDesk, WorkspaceFact]]:
    async with index_house(**given) as house:
        fact = await house.register()
        trees = MemoryTrees(MemoryTree(FILES))
        yield house, IndexDesk(house.house.stage.registry, trees), fact


def read(answer: bytes) -> Any:
    return msgspec.json.decode(answer)


async def events(stream: AsyncIterator[bytes]) -> list[str]:
    told = []
    async for piece in stream:
        text = piece.decode()
        assert text.endswith("\n\n")
        told.append(read(piece[6:])["index_status"] if text.startswith("data: ") else text[0])
    return told


async def test_a_stream_ends_with_the_index_that_is_made(autojump_clock: MockClock) -> None:
    async with desk() as (_, asked, fact):
        assert read(await asked.reindex(fact.id, anew=False))["workspace_id"] == fact.id
        told = await events(await asked.follow(fact.id, on=False))
        assert told[-1] == "ready"
        assert set(told[:-1]) <= {"pending", "indexing"}
        assert len(told) > 5
        assert await events(await asked.follow(fact.id, on=False)) == ["ready"]


async def test_a_stream_of_an_index_that_nobody_makes_ends_after_a_while(autojump_clock: MockClock) -> None:
    async with desk() as (_, asked, fact):
        before = trio.current_time()
        assert await events(await asked.follow(fact.id, on=False)) == ["pending"]
        assert trio.current_time() - before == pytest.approx(FOLLOW_SECONDS)


async def test_a_stream_that_goes_on_tells_later_updates_too_and_that_it_lives(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        await house.reindex(fact)
        await house.ready(fact)
        async with aclosing(await asked.follow(fact.id, on=True)) as stream:
            assert read((await anext(stream))[6:])["index_status"] == "ready"
            while (piece := await anext(stream)).startswith(b"data: "):  # such as that it is watched now
                pass
            assert piece.startswith(b": ")
            generation = (await house.status(fact)).generation
            await house.news(fact, "src/a.py")
            while not (piece := await anext(stream)).startswith(b"data: "):
                pass
            assert read(piece[6:])["generation"] > generation


async def test_the_original_s_way_answers_when_the_index_is_made(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        made = read(await asked.run(fact.id))
        assert (made["success"], made["stats"]["indexed_files"]) == (True, 100)
        house.index(fact).trouble = "The disk is full."
        failed = read(await asked.run(fact.id))
        assert (failed["success"], failed["message"]) == (False, "The disk is full.")
        house.index(fact).trouble = ""
        await house.ready(fact)
        house.index(fact).seconds = 600.0
        slow = read(await asked.run(fact.id))
        assert slow["success"] is True
        assert "is being made" in slow["message"]


async def test_a_slow_indexer_is_not_waited_for_and_where_there_is_none_that_is_told(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        await house.reindex(fact)
        await house.ready(fact)
        before = trio.current_time()
        status = read(await asked.status(fact.id))
        assert (status["index_status"], status["indexed_files"]) == ("ready", 100)
        assert trio.current_time() - before < STATUS_SECONDS
    async with staged(paper_spec(PaperDisk()), workspaces_spec(PaperFolders(), wall)) as bare:
        registry = bare.stage.registry
        alone = IndexDesk(registry, MemoryTrees(MemoryTree(FILES)))
        with pytest.raises(ContractRefusal) as refused:
            await alone.status("nobody's")
        assert refused.value.code == "WORKSPACE_NOT_FOUND"
        house = IndexHouse(bare, PaperIndexes(), None, PaperFolders())  # type: ignore[arg-type]
        fact = await house.register()
        status = read(await alone.status(fact.id))
        assert status["index_status"] == "pending"
        assert "There is no index here" in status["errors"][0]
        assert read(await alone.run(fact.id))["success"] is False
        with pytest.raises(NobodyThere):
            await alone.reindex(fact.id, anew=True)
        found = read(await alone.search(fact.id, "word", "all", 10))
        assert {each["path"] for each in found["results"]} == {"src/a.py", "src/b.py"}
        assert "the files themselves were searched" in found["message"]
        assert found["complete"] is False


@pytest.mark.parametrize("words", [("word",), ()])
async def test_a_search_tells_lines_as_they_are_now_and_what_the_policy_lets_read(
    words: tuple[str, ...], autojump_clock: MockClock
) -> None:
    """Also where the index does not say which words it has sought."""
    async with desk() as (house, asked, fact):
        hits = tuple(IndexHit(path=path, first_line=1, last_line=2, score=1.0) for path in (".git/config", "src/a.py"))
        findings = IndexFindings(hits=hits, stages=(StageCount("text_search", 2),), words=words, generation=7)
        index = house.index(fact)
        index.facts_now, index.seconds = IndexFacts(complete=True), 0.1

        async def find(query: Any, readable: Any) -> IndexFindings:
            return findings

        index.find = find  # type: ignore[method-assign]
        answer = read(await asked.search(fact.id, " word ", "all", 10))
        assert [each["path"] for each in answer["results"]] == ["src/a.py"]
        assert answer["results"][0]["lines"] == [{"number": 2, "text": "word = one"}]
        assert (answer["complete"], answer["generation"], answer["query"]) == (True, 7, "word")
        index.find = None  # type: ignore[method-assign,assignment]
        with pytest.raises(ContractRefusal, match="Say what is to be found"):
            await asked.search(fact.id, "  ", "all", 10)


MANY = {f"uses/{number:02}.py": f"from auth import login\nlogin()\nsee auth.py {number}\n" for number in range(60)}
AUTH = {"src/auth.py": "import os\n\n\ndef login(user):\n    return user\n", ".git/login.py": "def login(): pass\n"}


@pytest.mark.parametrize(
    ("words", "known", "first", "line", "said"),
    [
        ("login", (), "src/auth.py", 4, "looks as if it defines login"),
        ("LOGIN", (), "src/auth.py", 4, "looks as if it defines login"),
        ("auth.login", (), "src/auth.py", 4, "looks as if it defines login"),
        ("who calls `login`?", (), "src/auth.py", 4, "looks as if it defines login"),
        ("auth.py", (), "src/auth.py", 1, "the question names its path"),
        ("src/auth.py", (), "src/auth.py", 1, "the question names its path"),
        ("auth", (), "src/auth.py", 1, "the question names its path"),
        ("login", ("src/auth.py",), "src/auth.py", 4, "defines login"),
        ("from import", (), "uses/00.py", 1, "has it"),
        ("zebra_stripes", (), "uses/00.py", 1, "has it"),
    ],
)
async def test_while_the_index_is_made_what_the_question_names_comes_first_and_nothing_pushes_it_out(
    autojump_clock: MockClock, words: str, known: tuple[str, ...], first: str, line: int, said: str
) -> None:
    """`known`: what is in the index already, behind all the others."""
    uses = [
        IndexHit(path=path, first_line=1, last_line=2, score=1.0, reasons=(Reason("text_search", "has it", 1.0),))
        for path in MANY
    ]
    definition = IndexHit(
        path="src/auth.py", first_line=4, last_line=5, score=0.5, symbol="login", kind="function",
        reasons=(Reason("symbol_search", "defines login", 1.0),),
    )  # fmt: skip
    async with index_house() as house:
        fact = await house.register()
        asked = IndexDesk(house.house.stage.registry, MemoryTrees(LookedTree(MANY | AUTH)))

        async def find(query: Any, readable: Any) -> IndexFindings:
            hits = (*uses[: query.most - len(known)], *(definition for _ in known))
            return IndexFindings(hits=hits, words=("login",), complete=False)

        house.index(fact).find = find  # type: ignore[method-assign]
        for most in (5, 20):
            answer = read(await asked.search(fact.id, words, "all", most))
            results = answer["results"]
            assert (results[0]["path"], results[0]["first_line"]) == (first, line)
            assert said in results[0]["reasons"][0]["said"]
            paths = [each["path"] for each in results]
            assert len(paths) == len(set(paths)) == most
            assert not any(path.startswith(".git") for path in paths)
            assert all(each["reasons"] for each in results), "each says why"


async def test_a_search_in_a_folder_that_is_gone_says_so_and_not_that_nothing_was_found(
    autojump_clock: MockClock
) -> None:
    class GoneTree(MemoryTree):
        async def entries(self, folder: str = "", *, most: int = 1000, deep: bool = False) -> Sequence[TreeEntry]:
            raise FileRefused("The folder is not there any more.")

    async with index_house() as house:
        fact = await house.register()

        async def find(query: Any, readable: Any) -> IndexFindings:
            return IndexFindings(hits=(), complete=True)

        house.index(fact).find = find  # type: ignore[method-assign]
        for tree, said, complete in (
            (MemoryTree(FILES), "Nothing was found for zebra.", True),
            (GoneTree({}), "The folder is not there any more.", False),
        ):
            asked = IndexDesk(house.house.stage.registry, MemoryTrees(tree))
            answer = read(await asked.search(fact.id, "zebra", "all", 5))
            assert (answer["results"], answer["message"], answer.get("complete", True)) == ([], said, complete)


class SlowTree(LookedTree):
    """Reading it takes a while."""

    readers = most = 0

    async def search(self, words: Sequence[str], *, most: int = 50) -> Sequence[FileHit]:
        self.readers += 1
        self.most = max(self.most, self.readers)
        try:
            await trio.sleep(2.5)
            return await super().search(words, most=most)
        finally:
            self.readers -= 1


@pytest.mark.parametrize("how", ["incomplete", "late", "silent"])
async def test_of_a_crowd_that_searches_few_read_the_files_and_the_others_wait_for_the_index(
    autojump_clock: MockClock, how: str
) -> None:
    tree = SlowTree(MANY | AUTH)
    async with index_house() as house:
        fact = await house.register()
        asked = IndexDesk(house.house.stage.registry, MemoryTrees(tree))
        hits = (IndexHit(path="uses/00.py", first_line=1, last_line=2, score=1.0),)

        async def find(query: Any, readable: Any) -> IndexFindings:
            if how != "incomplete":
                await trio.sleep(1.5 * FIND_SECONDS if how == "late" else math.inf)
            return IndexFindings(hits=hits, words=("login",), complete=how != "incomplete")

        house.index(fact).find = find  # type: ignore[method-assign]
        answers: list[Any] = []

        async def ask() -> None:
            answers.append(read(await asked.search(fact.id, "login", "all", 5)))

        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            for _ in range(30):
                nursery.start_soon(ask)
        assert tree.most == MOST_READERS
        took = trio.current_time() - began
        assert took < FIND_SECONDS + TURN_SECONDS + (PLAIN_SECONDS if how == "silent" else 2 * FIND_SECONDS)
        whole = [each for each in answers if "src/auth.py" in [found["path"] for found in each["results"]]]
        assert len(whole) == MOST_READERS, "these have read"
        others = [each for each in answers if each not in whole]
        assert [[found["path"] for found in each["results"]] for each in others] == (
            [[]] * 28 if how == "silent" else [["uses/00.py"]] * 28
        )
        said = {"incomplete": BEGINS, "late": "", "silent": CROWDED}[how]
        assert {each.get("message", "") for each in others} == {said}
        assert {each.get("complete", True) for each in others} == {how == "late"}
        assert not asked._readers


async def test_a_policy_that_is_changed_during_a_search_counts_for_its_answer(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        hits = tuple(IndexHit(path=path, first_line=1, last_line=1, score=1.0) for path in ("src/a.py", "src/b.py"))
        index = house.index(fact)
        index.facts_now = IndexFacts(complete=True)

        async def find(query: Any, readable: Any) -> IndexFindings:
            assert readable("src/a.py")
            await forbid(house, fact, "src/a.py")
            return IndexFindings(hits=hits, stages=(StageCount("text_search", 2),), words=("word",), generation=7)

        index.find = find  # type: ignore[method-assign]
        answer = read(await asked.search(fact.id, "word", "all", 10))
        assert [each["path"] for each in answer["results"]] == ["src/b.py"]


async def test_a_search_by_meaning_without_vectors_says_what_it_needs(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        index = house.index(fact)
        stages = (StageCount("reranking", 0),)

        async def find(query: Any, readable: Any) -> IndexFindings:
            return IndexFindings(stages=stages, words=("word",), complete=index.facts_now.complete)

        index.find = find  # type: ignore[method-assign]
        for complete in (False, True):
            index.facts_now = IndexFacts(complete=complete)
            answer = read(await asked.search(fact.id, "word", "vectors", 10))
            assert answer["results"] == []
            assert "agent.embedding_model" in answer["message"]
        stages = (StageCount("vector_search", 0),)
        answer = read(await asked.search(fact.id, "word", "vectors", 10))
        assert answer["message"] == "Nothing was found for word."


@pytest.mark.parametrize("kind", ["all", "vectors"])
@pytest.mark.parametrize("complete", [True, False])
async def test_a_search_says_why_it_went_by_the_words_only(
    kind: Any, complete: bool, autojump_clock: MockClock
) -> None:
    async with desk() as (house, asked, fact):
        index = house.index(fact)
        index.seconds = 0.1
        index.facts_now = IndexFacts(complete=complete)
        hits = [IndexHit(path="src/a.py", first_line=1, last_line=1, score=1.0)]

        async def find(query: Any, readable: Any) -> IndexFindings:
            findings = IndexFindings(hits=tuple(hits), words=("word",), complete=complete, by_words_only="Why it did.")
            hits.clear()
            return findings

        index.find = find  # type: ignore[method-assign]
        for _ in ("with a hit", "without"):
            answer = read(await asked.search(fact.id, "word", kind, 10))
            assert answer["message"].endswith("Why it did.")


async def test_a_search_says_that_something_may_be_missing_while_the_index_is_compared_with_the_disk(
    autojump_clock: MockClock
) -> None:
    async with desk() as (house, asked, fact):
        index = house.index(fact)
        index.facts_now, index.seconds = IndexFacts(complete=True), 60
        answer = read(await asked.search(fact.id, "word", "all", 10))
        assert (answer["message"], answer["complete"]) == (BEHIND, False)
        assert [each["path"] for each in answer["results"]] == ["src/a.py", "src/b.py"], "the second by reading"
        await trio.sleep(60)
        answer = read(await asked.search(fact.id, "word", "all", 10))
        assert (answer["message"], answer["complete"]) == ("", True)
        assert [each["path"] for each in answer["results"]] == ["src/a.py"]


async def test_no_status_names_a_file_that_the_policy_hides(autojump_clock: MockClock) -> None:
    open_ones = ("The disk is slow.", "src/b.py was left out: whatever reads it is ended by it, or takes too long.")
    closed = (
        "hidden/a.py was left out: whatever reads it is ended by it, or takes too long.",
        "hidden/b c.py cannot be read: permission denied.",
        "hidden cannot be read: this folder is left out.",
        "hidden/c cannot be read: this folder is left out.",
        "hidden/one, two\nand\nthree/d.py cannot be read: permission denied.",
    )
    async with desk() as (house, asked, fact):
        house.index(fact).facts_now = IndexFacts(complete=True, troubles=(*open_ones, *closed))
        await house.ready(fact)
        await house.reindex(fact)
        await house.ready(fact)
        house.index(fact).facts_now = IndexFacts(complete=True, troubles=(*open_ones, *closed))
        seen = await house.status(fact)
        assert set(seen.errors) >= set(closed)
        assert read(await asked.status(fact.id))["errors"] == list(seen.errors)
        await forbid(house, fact, "hidden/**")
        assert read(await asked.status(fact.id))["errors"] == [*open_ones, HIDDEN]
        async with aclosing(await asked.follow(fact.id, on=True)) as stream:
            assert b"hidden/" not in await anext(stream)


async def forbid(house: IndexHouse, fact: WorkspaceFact, path: str) -> None:
    workspaces = house.house.stage.registry.get(WORKSPACES)
    change = PolicyChange(blocked_globs=(path,))
    assert await workspaces.ask(partial(ChangePolicy, fact.id, change, "ada"), timeout=9) is not None


async def test_a_told_path_that_is_none_of_the_workspace_is_refused_with_its_place(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        body = {"changes": [{"type": "created", "file_path": path} for path in ("a.py", "../x")]}
        with pytest.raises(ContractRefusal) as refused:
            await asked.changed(fact.id, msgspec.json.encode(body))
        assert (refused.value.status, refused.value.where) == (422, "$.changes[1].file_path")
        assert house.index(fact).wishes.entries == []


async def test_a_wish_to_watch_is_kept_and_can_be_taken_back(autojump_clock: MockClock) -> None:
    async with desk() as (house, asked, fact):
        assert read(await asked.watch(fact.id, wanted=True))["success"] is True
        assert (await house.known(fact.id)).auto_watch is True
        assert read(await asked.watch(fact.id, wanted=False))["watching"] is False
        assert (await house.known(fact.id)).auto_watch is False
        with pytest.raises(ContractRefusal):
            await asked.watch("nobody's", wanted=True)
