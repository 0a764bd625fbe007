"""Places are found by their meaning, beside their words: on a real index, with a model on paper."""

import sqlite3
from array import array
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
import trio
import trio.testing

from actors.agent.index.given import IndexTrouble
from codec.agent.index.asking import IndexFindings, IndexQuery, SearchKind
from codec.agent.index.telling import IndexFacts, IndexWish
from codec.agent.models import ModelTrouble
from tests.agent.fakes.meaning import NUMBERS, meaning
from tests.transports.agent.index.house import PATIENCE, IndexHouse, looked, open_indexes
from transports.agent.index import folder_indexes
from transports.agent.index.folder_indexes import FolderIndex, FolderIndexes
from transports.agent.index.meaning import NOT_YET, OTHER_MODEL, REFUSED, TRUSTED

pytestmark = pytest.mark.slow

TREE = {
    "garage.py": "def park(car):\n    return car.park(garage)\n",
    "kennel.py": "def walk(dog):\n    return dog.walk(park)\n",
    "sofa.py": "def sleep(cat):\n    return cat.sleep(sofa)\n",
    "notes.md": "# Weather\n\nIt rains.\n",
}


class PaperEmbedder:
    def __init__(self, name: str = "ollama words", numbers: int = NUMBERS) -> None:
        self.name = name
        self.texts: list[str] = []
        self.trouble = ""
        self.most = 10_000
        """Texts, before it fails."""
        self.gate: trio.Event | None = None
        self.refused = ""
        """A text that has it has no vector."""
        self.numbers = numbers
        self.doubted: list[bool] = []
        """Of each request."""

    async def embed(self, texts: Sequence[str], *, doubted: bool = False) -> Sequence[bytes | None]:
        self.doubted.append(doubted)
        await trio.lowlevel.checkpoint()
        if self.gate is not None:
            await self.gate.wait()
        if self.trouble or len(self.texts) >= self.most:
            raise ModelTrouble(self.trouble or "Ollama is away.")
        self.texts += texts
        vectors: list[bytes | None] = []
        for text in texts:
            if self.refused and self.refused in text:
                vectors.append(None)
                continue
            numbers = meaning(text, self.numbers)
            length = sum(number * number for number in numbers) ** 0.5 or 1.0
            vectors.append(array("f", [number / length for number in numbers]).tobytes())
        return vectors


def with_model(house: IndexHouse, embedder: PaperEmbedder | None) -> FolderIndex:
    """As after a restart."""
    return FolderIndexes(house.crew, house.state, [house.state], 2, embedder).index("one", str(house.root))


async def made(index: FolderIndex, *paths: str, anew: bool = False) -> IndexFacts:
    with trio.fail_after(PATIENCE):
        await index.update(IndexWish(paths=paths or None, anew=anew), lambda facts: None)
        return await index.embed(lambda facts: None) or await index.facts()


async def found(
    index: FolderIndex, text: str, kind: SearchKind = "vectors", readable: Callable[[str], bool] = lambda path: True
) -> IndexFindings:
    with trio.fail_after(PATIENCE):
        return await index.find(IndexQuery(text=text, kind=kind), readable)


def paths(findings: IndexFindings) -> list[str]:
    return [hit.path for hit in findings.hits]


def write_tree(house: IndexHouse) -> None:
    for path, text in TREE.items():
        house.write(path, text)


async def test_what_means_the_same_is_found_without_its_words(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        embedder = PaperEmbedder()
        index = with_model(house, embedder)
        facts = await made(index)
        assert (facts.mode, facts.vectors) == ("full", facts.total_chunks)
        assert (await index.facts()).mode == "full"
        findings = await found(index, "automobile")
        assert paths(findings) == ["garage.py"]
        (reason,) = findings.hits[0].reasons
        assert reason.stage == "vector_search"
        assert reason.said == f"goes with the question by its meaning ({reason.score:.2f})"
        assert findings.hits[0].score == reason.score
        assert [(each.stage, each.count) for each in findings.stages] == [("vector_search", 1), ("reranking", 1)]
        # each word stands for one number of a vector, so that is how alike they are: "park" is in two files
        assert paths(await found(index, "park")) == ["garage.py", "kennel.py"]
        both = await found(index, "where does the feline sleep", "all")
        assert paths(both)[0] == "sofa.py"
        assert {reason.stage for reason in both.hits[0].reasons} >= {"vector_search", "text_search"}
        assert [each.stage for each in both.stages] == ["symbol_search", "text_search", "vector_search", "reranking"]
        assert paths(await found(index, "automobile", "text")) == []


async def test_what_may_not_be_read_is_not_found_by_its_meaning(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        index = with_model(house, PaperEmbedder())
        await made(index)
        findings = await found(index, "park", readable=lambda path: path != "garage.py")
        assert paths(findings) == ["kennel.py"]
        assert [each.count for each in findings.stages] == [1, 1]


async def test_no_secret_is_sent_to_the_model(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write(".env", "DATABASE_PASSWORD=hunter2zebra\n")
        house.write("config.py", "password = 'hunter2zebra99!x'\nplain = 'giraffe'\n")
        embedder = PaperEmbedder()
        await made(with_model(house, embedder))
        assert any("giraffe" in text for text in embedder.texts)
        assert not any("hunter2zebra" in text for text in embedder.texts)


async def test_a_restart_and_a_rebuild_embed_nothing_again_and_an_edit_only_its_chunk(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        await made(with_model(house, PaperEmbedder()))
        embedder = PaperEmbedder()
        index = with_model(house, embedder)
        assert (await index.facts()).mode == "full"
        assert (await made(index)).mode == (await made(index, anew=True)).mode == "full"
        assert embedder.texts == []
        assert paths(await found(index, "automobile")) == ["garage.py"]
        embedder.texts.clear()
        house.write("kennel.py", "def wash(vehicle):\n    return vehicle\n")
        updated = await index.update(IndexWish(paths=("kennel.py",)), lambda facts: None)
        assert (updated.mode, (await index.facts()).mode) == ("text_only", "text_only")
        assert (await made(index, "kennel.py")).mode == "full"
        assert len(embedder.texts) == 1
        assert "wash(vehicle)" in embedder.texts[0]
        assert set(paths(await found(index, "automobile"))) == {"garage.py", "kennel.py"}
        house.write("kennel.py", TREE["kennel.py"])
        await made(index, "kennel.py")
        assert sum("dog" in text for text in embedder.texts) == 0  # it has been embedded before


async def test_texts_that_are_there_twice_are_embedded_once(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(100):
            house.write(f"a{number}/garage.py", TREE["garage.py"])
        embedder = PaperEmbedder()
        facts = await made(with_model(house, embedder))
        assert (facts.mode, facts.vectors) == ("full", 100)
        assert len(embedder.texts) == len(set(embedder.texts)) == 1


async def test_another_model_makes_all_vectors_anew_and_none_of_the_old_answers(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        first = await made(with_model(house, PaperEmbedder()))
        other = PaperEmbedder("openai other", 128)
        index = with_model(house, other)
        assert (await index.facts()).mode == "text_only"
        assert [each.stage for each in (await found(index, "park", "all")).stages].count("vector_search") == 0
        assert (await made(index)).mode == "full"
        assert len([text for text in other.texts if text != "park"]) == first.total_chunks
        assert paths(await found(index, "automobile")) == ["garage.py"]
        assert looked(house.file, "SELECT DISTINCT length(data) FROM vector") == [(512,)]


async def test_a_model_that_is_another_one_under_the_same_name_makes_all_anew(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        await made(with_model(house, PaperEmbedder()))
        house.write("new.py", "def drive(vehicle):\n    return vehicle\n")
        index = with_model(house, PaperEmbedder(numbers=128))
        facts = await made(index)
        assert (facts.mode, facts.vectors) == ("full", facts.total_chunks)
        assert set(paths(await found(index, "automobile"))) == {"garage.py", "new.py"}


@pytest.mark.parametrize("numbers", [128, 512])
async def test_a_question_shows_that_all_vectors_are_another_models_and_they_are_made_anew(
    tmp_path: Path, numbers: int
) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        await made(with_model(house, PaperEmbedder()))
        embedder = PaperEmbedder(numbers=numbers)
        index = with_model(house, embedder)
        for kind, there in (("all", ["garage.py", "kennel.py"]), ("vectors", [])):
            findings = await found(index, "park", cast("SearchKind", kind))
            assert findings.other_vectors
            assert findings.by_words_only == OTHER_MODEL
            assert sorted(paths(findings)) == there
            assert "vector_search" not in {each.stage for each in findings.stages}
        facts = await made(index)
        assert (facts.mode, facts.vectors) == ("full", facts.total_chunks)
        assert looked(house.file, "SELECT DISTINCT length(data) FROM vector") == [(4 * numbers,)]
        findings = await found(index, "automobile")
        assert (paths(findings), findings.other_vectors, findings.by_words_only) == (["garage.py"], False, "")


async def test_a_question_that_was_asked_before_is_read_anew_by_another_model(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        embedder = PaperEmbedder()
        index = with_model(house, embedder)
        await made(index)
        assert paths(await found(index, "automobile")) == ["garage.py"]
        embedder.numbers = 128
        house.write("new.md", "# New\n")
        await made(index, "new.md")
        findings = await found(index, "automobile")
        assert (paths(findings), findings.other_vectors) == (["garage.py"], False)


async def test_the_vectors_of_another_model_are_gone_and_told_so_while_it_fails(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        await made(with_model(house, PaperEmbedder()))
        embedder = PaperEmbedder(numbers=128)
        index = with_model(house, embedder)
        await found(index, "park")
        embedder.trouble = "Ollama is away."
        said: list[IndexFacts] = []
        with pytest.raises(IndexTrouble):
            await index.embed(said.append)
        assert [(facts.mode, facts.vectors) for facts in said] == [("text_only", 0)]
        for kind in ("all", "vectors"):
            assert (await found(index, "park", kind)).by_words_only == NOT_YET


async def test_a_model_that_changes_again_and_again_is_given_up_for_now(tmp_path: Path) -> None:
    class Changing(PaperEmbedder):
        async def embed(self, texts: Sequence[str], *, doubted: bool = False) -> Sequence[bytes | None]:
            self.numbers = 384 - self.numbers
            return await super().embed(texts)

    async with open_indexes(tmp_path) as house:
        for number in range(80):
            house.write(f"a{number}.md", f"# Title\n\nword {'x' * (number + 1)}\n")
        index = with_model(house, Changing())
        with pytest.raises(IndexTrouble, match="of 256 numbers, and has sent vectors of 128"):
            await made(index)


async def test_a_text_that_the_model_refuses_is_left_out_and_told_and_everything_else_is_embedded(
    tmp_path: Path
) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        for path in ("one.md", "two.md", "like_two.md"):
            house.write(path, f"# Zebra\n\n{path.removeprefix('like_')}\n")
        embedder = PaperEmbedder()
        embedder.refused = "Zebra"
        index = with_model(house, embedder)
        facts = await made(index)
        assert (facts.mode, facts.total_chunks - facts.vectors) == ("full", 3)
        assert facts.troubles == (REFUSED.format("3 passages"),)
        for words, path in (("automobile", "garage.py"), ("it rains", "notes.md"), ("feline", "sofa.py")):
            assert paths(await found(index, words)) == [path], "what is left out stands under no other's vector"
        assert set(paths(await found(index, "zebra", "all"))) == {"one.md", "two.md", "like_two.md"}
        again = PaperEmbedder()
        again.refused = "Zebra"
        index = with_model(house, again)
        facts = await made(index)
        assert (again.texts, facts.mode, facts.troubles) == ([], "full", (REFUSED.format("3 passages"),))
        assert (await made(index, "sofa.py")).troubles == facts.troubles
        house.write("one.md", "# Car\n\nHere.\n")
        assert (await made(index, "one.md")).troubles == (REFUSED.format("2 passages"),)
        assert set(paths(await found(index, "automobile"))) == {"garage.py", "one.md"}
        with pytest.raises(IndexTrouble, match="The embedding model refuses the question"):
            await found(index, "Zebra", "vectors")


async def test_a_rebuild_asks_again_for_the_texts_that_were_refused(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        embedder = PaperEmbedder()
        embedder.refused = "def"
        index = with_model(house, embedder)
        facts = await made(index)
        assert facts.troubles == (REFUSED.format("3 passages"),)
        embedder.refused = ""
        embedder.texts.clear()
        assert (await made(index)).troubles == facts.troubles
        facts = await made(index, anew=True)
        assert (facts.troubles, facts.vectors, len(embedder.texts)) == ((), facts.total_chunks, 3)


async def test_vectors_that_were_kept_before_any_text_could_be_refused_are_used_on(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        await made(with_model(house, PaperEmbedder()))
        with closing(sqlite3.connect(house.file)) as connection, connection:
            connection.execute("DROP TRIGGER refused_given")
            connection.execute("DROP TRIGGER refused_taken")
            connection.execute("DELETE FROM meta WHERE key = 'refused'")
        embedder = PaperEmbedder()
        embedder.refused = "Zebra"
        index = with_model(house, embedder)
        assert (await made(index, anew=True)).mode == "full"
        assert embedder.texts == []
        house.write("zebra.md", "# Zebra\n")
        facts = await made(index, "zebra.md")
        assert (facts.mode, facts.troubles) == ("full", (REFUSED.format("1 passage"),))


async def test_what_is_embedded_stays_when_the_server_of_models_goes_away(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(80):
            house.write(f"a{number}.md", f"# Title\n\nword{'abcdefghij'[number % 10]} {'x' * (number + 1)}\n")
        embedder = PaperEmbedder()
        embedder.most = 32
        index = with_model(house, embedder)
        await index.update(IndexWish(), lambda facts: None)
        said: list[IndexFacts] = []
        with pytest.raises(IndexTrouble, match=r"not found by their meaning now\. Ollama is away"):
            await index.embed(said.append)
        assert [facts.vectors for facts in said] == [0, 32]
        assert (await index.facts()).vectors == 32
        assert paths(await found(index, "title", "all"))  # the words go on
        with pytest.raises(IndexTrouble, match="Ollama is away"):
            await found(index, "title", "vectors")
        again = PaperEmbedder()
        facts = await with_model(house, again).embed(said.append)
        assert facts is not None
        assert facts.mode == "full"
        assert len(again.texts) == 80 - 32


async def test_texts_by_which_a_model_fails_again_and_again_are_doubted_and_no_others(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        for number in range(80):
            house.write(f"a{number:02}.md", f"# Title\n\nword {'x' * (number + 1)}\n")
        embedder = PaperEmbedder()
        embedder.most = 32
        index = with_model(house, embedder)
        await index.update(IndexWish(), lambda facts: None)
        for _ in range(TRUSTED + 1):
            with pytest.raises(IndexTrouble, match="Ollama is away"):
                await index.embed(lambda facts: None)
        assert embedder.doubted == [False] * (1 + TRUSTED) + [True]
        embedder.most = 10_000
        embedder.doubted.clear()
        await index.embed(lambda facts: None)
        assert embedder.doubted == [True, False]


async def test_filling_can_be_cancelled_and_goes_on(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        embedder = PaperEmbedder()
        embedder.gate = trio.Event()
        index = with_model(house, embedder)
        await index.update(IndexWish(), lambda facts: None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(index.embed, lambda facts: None)
            await trio.testing.wait_all_tasks_blocked(0.05)
            house.write("garage.py", "def sell(vehicle):\n    return vehicle\n")
            await index.update(IndexWish(paths=("garage.py",)), lambda facts: None)  # it is not held up
            nursery.cancel_scope.cancel()
        embedder.gate.set()
        assert (await made(index)).mode == "full"
        assert "sell" in (await found(index, "sell vehicle")).hits[0].symbol


async def test_a_text_that_changes_while_it_is_embedded_is_not_given_the_old_vector(tmp_path: Path) -> None:
    async with open_indexes(tmp_path) as house:
        house.write("pet.py", "def pet(cat):\n    return cat\n")
        embedder = PaperEmbedder()
        embedder.gate = trio.Event()
        index = with_model(house, embedder)
        await index.update(IndexWish(), lambda facts: None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(index.embed, lambda facts: None)
            await trio.testing.wait_all_tasks_blocked(0.05)
            house.write("pet.py", "def pet(car):\n    return car\n")
            await index.update(IndexWish(paths=("pet.py",)), lambda facts: None)
            embedder.gate.set()
        assert (await index.facts()).mode == "full"
        assert paths(await found(index, "automobile")) == ["pet.py"]
        assert paths(await found(index, "feline")) == []


@pytest.mark.parametrize("lacks", ["a model", "numpy"])
async def test_without_a_model_or_numpy_nothing_is_said_of_vectors(
    tmp_path: Path, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_indexes, "has_numpy", lambda: lacks != "numpy")
    async with open_indexes(tmp_path) as house:
        write_tree(house)
        index = with_model(house, PaperEmbedder() if lacks == "numpy" else None)
        facts = await made(index)
        assert (facts.mode, facts.vectors) == ("text_only", 0)
        assert await index.embed(lambda facts: None) is None
        findings = await found(index, "park", "all")
        assert "vector_search" not in {each.stage for each in findings.stages}
        assert (await found(index, "park", "vectors")).stages == ()
        assert findings.by_words_only == ""
        assert looked(house.file, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%vector%'") == [(0,)]
