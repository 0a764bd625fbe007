"""In the tree, the actor behind a connection is called by its part, in words for people, and by its room."""

from types import SimpleNamespace
from typing import Any

import pytest

from actors.sidekick.peer import Peer


@pytest.mark.parametrize(
    ("parts", "called"),
    [
        ([], "peer garden"),
        (["hero"], "script garden"),
        (["screen"], "page garden"),
        (["screen", "hero"], "script garden"),
        (["something new"], "peer garden"),
    ],
)
def test_a_peer_is_called_by_its_part_and_its_room(parts: list[str], called: str) -> None:
    room: Any = SimpleNamespace(path="troupe/sidekick/rooms/garden")
    line: Any = None
    peer = Peer(room, line)
    for part in parts:
        peer._takes_part(part)
    assert peer.called == called
