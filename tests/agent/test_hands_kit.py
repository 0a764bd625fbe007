"""Tests of turns have hands that work in memory. They refuse what hands on a disk refuse."""

from pathlib import Path

import pytest

from actors.agent.given import FileReplacement, Hands
from codec.agent.files import digest_of
from tests.agent.hands_kit import MemoryHands
from tests.agent.turn_kit import MemoryTree
from transports.agent.tree import FolderTrees

TEXT, KEY = "x = 1\n", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n"


@pytest.mark.parametrize("new", [TEXT * 2, KEY, None], ids=["changed", "made a key", "deleted"])
@pytest.mark.parametrize("old", [TEXT, KEY], ids=["text", "key"])
@pytest.mark.parametrize("path", ["app.py", ".env", "id_rsa", ".env.example"])
async def test_what_holds_secrets_is_refused_in_memory_as_on_a_disk(
    tmp_path: Path, path: str, old: str, new: str | None
) -> None:
    (tmp_path / path).write_text(old)
    answers = []
    hands: Hands
    for hands in (MemoryHands(MemoryTree({path: old})), FolderTrees().hands(str(tmp_path))):
        change = FileReplacement(path, digest_of(old.encode()), None if new is None else new.encode())
        answers.append([type(each) for each in (*await hands.images([path]), *await hands.change([change]))])
    assert answers[0] == answers[1]
