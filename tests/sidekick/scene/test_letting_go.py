"""What has gone from a board is gone from memory at once: garbage is looked for seldom, and a board may be large."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from actors.sidekick.scene import Limits, Scene
from actors.sidekick.scene.tree import Component
from codec.sidekick import ClearAll, Remove
from tests.sidekick.scene import stories
from tests.sidekick.scene.test_laws import drawn

LIMITS = Limits(lines=5, characters=60, depth=4, buffers=2)


class Marked(Component):
    """One that can be seen to go."""

    __slots__ = ("__weakref__",)


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of all kinds that have no state of their own."""
    kinds = dict.fromkeys(("row", "column", "label"), Marked)
    monkeypatch.setattr("actors.sidekick.scene.scene.KINDS", kinds)
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(story=stories.stories())
def test_what_has_gone_waits_for_no_garbage_collector(marked: None, story: list[bytes]) -> None:
    scene = Scene(LIMITS)
    there: list[weakref.ref[Marked]] = []
    for said in drawn(story):
        scene.fold(said)
        there += [weakref.ref(one) for one in scene._components.values() if isinstance(one, Marked)]
        stand = set(map(id, scene._components.values()))
        there = list({id(one()): one for one in there if one() is not None}.values())
        assert {id(one()) for one in there} <= stand
    for name in ("row-1", "row-2", "column-1"):
        scene.fold(Remove(stories.KINDS[name], name))
    scene.clear(ClearAll())
    assert [one() for one in there if one() is not None] == []
