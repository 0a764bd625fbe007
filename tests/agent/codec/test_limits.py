"""What comes from outside has limits, and each is exactly what it says: so much is taken, and one more is not."""

import json
from collections.abc import Callable

import pytest

from codec.agent import addresses, file_texts, ollama, openai, thoughts, tree_paths
from codec.agent.addresses import BadAddress, kept_address
from codec.agent.answering import LIMITS, Tally
from codec.agent.embeddings import MOST_NUMBERS, vectors_of
from codec.agent.file_texts import cut_line
from codec.agent.files import FileRefused
from codec.agent.models import ModelTrouble
from codec.agent.ndjson import MOST_EMPTY, JsonLines
from codec.agent.sse import EventStream
from codec.agent.thoughts import Thoughts
from codec.agent.tree_paths import tree_names

HOST = "http://h/"


def _path(length: int) -> object:
    return tree_names((("a" * tree_paths.LONGEST_NAME + "/") * 20)[:length])


def _event(size: int) -> object:
    """Of two lines, each of which is short enough."""
    half = size // 2 - 1
    return [*EventStream(1000).feed(b"data: " + b"x" * half + b"\ndata: " + b"x" * (size - half - 2) + b"\n\n")]


def _held_back(blanks: int) -> object:
    return Thoughts(Tally("It", LIMITS)).feed(" " * blanks) == []


def _embedded(numbers: int) -> object:
    return vectors_of(json.dumps({"embeddings": [[1] * numbers]}).encode(), "ollama", 1, "Ollama")


def _listed_by_ollama(length: int) -> object:
    return ollama.listed(json.dumps({"models": [{"name": "m" * length}]}).encode(), HOST, "Ollama")


def _listed_by_openai(length: int) -> object:
    return openai.listed(json.dumps({"data": [{"id": "m" * length}]}).encode(), "vllm", HOST, "vLLM")


@pytest.mark.parametrize(
    ("most", "taken"),
    [
        (tree_paths.LONGEST_PATH, _path),
        (tree_paths.LONGEST_NAME, lambda length: tree_names("a" * length)),
        (tree_paths.LONGEST_NAME - 1, lambda length: tree_names("a" * (length - 1) + "é")),
        (tree_paths.DEEPEST, lambda depth: tree_names("/".join("a" * depth))),
        (addresses.LONGEST, lambda length: kept_address(HOST + "a" * (length - len(HOST)), "openai")),
        (1000, lambda length: [*JsonLines(1000).feed(b"x" * length)] == []),
        (MOST_EMPTY, lambda count: [*JsonLines().feed(b"\n" * count)] == []),
        (1000, lambda length: [*EventStream(1000).feed(b":" * (length - 1) + b"\n")] == []),
        (1000, _event),
        (MOST_EMPTY, lambda count: [*EventStream().feed(b":\n" * count)] == []),
        (thoughts.MOST_BLANKS, _held_back),
        (file_texts.LONGEST_LINE, lambda length: cut_line("x" * length) == "x" * length),
        (MOST_NUMBERS, _embedded),
        (ollama.LONGEST_NAME, _listed_by_ollama),
        (openai.LONGEST_NAME, _listed_by_openai),
    ],
)
def test_so_much_is_taken_and_one_more_is_not(most: int, taken: Callable[[int], object]) -> None:
    def is_taken(size: int) -> bool:
        try:
            return bool(taken(size))
        except (FileRefused, BadAddress, ModelTrouble, ValueError):
            return False

    assert (is_taken(most), is_taken(most + 1)) == (True, False)
