"""What holds whatever is said."""

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from actors.sidekick.scene import Limits, Scene
from codec.sidekick import ClearAll, Other, Remove, Spawn, Update
from tests.plenty import plenty
from tests.sidekick.scene import stories
from tests.sidekick.scene.naive import NaiveBoard
from tests.sidekick.scene.stories import heard

LIMITS = Limits(lines=5, characters=60, depth=4, buffers=2)
CRAMPED = Limits(memory=9_000, components=6, lines=5, characters=60, strokes=12, unknown=3)
MODEST = settings(max_examples=plenty(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOPICS = {
    "everything": stories.anything,
    "canvas": stories.strokes,
    "viz": st.one_of(stories.changes(), stories.changes(), stories.shown),
    "tree": st.one_of(stories.spawns(), stories.moves, stories.moves, stories.removals),
    "console": stories.prints,
}
each_topic = pytest.mark.parametrize("topic", TOPICS)


def drawn(frames: list[bytes]) -> list[Any]:
    return [said for said in heard(*frames) if isinstance(said, Spawn | Update | Remove | ClearAll | Other)]


def fold(scene: Scene, frames: list[bytes]) -> list[bytes]:
    """What was done of this, and so relayed."""
    return [said.raw for said in drawn(frames) if scene.fold(said) is None]


@pytest.mark.slow
@each_topic
@MODEST
@given(data=st.data())
def test_the_replay_shows_what_the_messages_show(topic: str, data: st.DataObject) -> None:
    scene = Scene(LIMITS)
    relayed = fold(scene, data.draw(stories.stories(TOPICS[topic])))
    assert NaiveBoard(LIMITS).show(*scene.replay()).picture() == NaiveBoard(LIMITS).show(*relayed).picture()


@pytest.mark.slow
@each_topic
@MODEST
@given(data=st.data())
def test_a_replay_is_taken_whole_and_replays_as_itself(topic: str, data: st.DataObject) -> None:
    scene, second = Scene(LIMITS), Scene(LIMITS)
    fold(scene, data.draw(stories.stories(TOPICS[topic])))
    replay = list(scene.replay())
    assert fold(second, replay) == replay
    third = Scene(LIMITS)
    again = list(second.replay())
    assert fold(third, again) == again == list(third.replay())


@pytest.mark.slow
@MODEST
@given(stories.stories(st.one_of(stories.nonsense, stories.nonsense, stories.anything)))
def test_nothing_that_is_said_breaks_a_scene(story: list[bytes]) -> None:
    scene, second = Scene(LIMITS), Scene(LIMITS)
    fold(scene, story)
    replay = list(scene.replay())
    assert fold(second, replay) == replay


@pytest.mark.slow
@MODEST
@given(before=stories.stories(), after=st.lists(stories.anything, max_size=20))
def test_who_is_shown_the_replay_at_any_moment_sees_what_he_would_have_seen_from_the_start(
    before: list[bytes], after: list[bytes]
) -> None:
    scene = Scene(LIMITS)
    early = NaiveBoard(LIMITS).show(*fold(scene, before))
    late = NaiveBoard(LIMITS).show(*scene.replay())
    relayed = fold(scene, after)
    assert late.show(*relayed).picture() == early.show(*relayed).picture()


@pytest.mark.slow
@MODEST
@given(stories.stories())
def test_what_is_refused_changes_nothing_and_is_said_in_a_sentence(story: list[bytes]) -> None:
    scene = Scene(CRAMPED)
    for said in drawn(story):
        before = (list(scene.replay()), scene.statistics())
        refusal = scene.fold(said)
        if refusal is not None:
            assert ": " in refusal
            assert (list(scene.replay()), scene.statistics()) == before


@pytest.mark.slow
@MODEST
@given(stories.stories(most=80))
@example([*map(stories.spawn, stories.NAMES), *stories.BUFFERS_MADE, *stories.COVERED_AND_STAMPED])
def test_a_scene_never_holds_more_than_its_limits_and_gives_back_what_it_took(story: list[bytes]) -> None:
    scene = Scene(CRAMPED)
    for said in drawn(story):
        scene.fold(said)
        statistics = scene.statistics()
        assert 0 <= statistics.memory <= CRAMPED.memory
        assert statistics.components <= CRAMPED.components
        assert statistics.strokes <= CRAMPED.strokes
    for name in stories.NAMES:
        scene.fold(Remove(stories.KINDS[name], name))
    scene.clear(ClearAll(), others=("somebody",))
    assert scene.statistics().memory == 0


@pytest.mark.slow
@MODEST
@given(stories.stories(most=60), st.lists(st.sampled_from("AB"), min_size=1))
@example(
    [
        b'{"id": 0, "component": "chart", "type": "blink", "target": "chart-7"}',
        b'{"id": 0, "component": "global", "type": "clearAll"}',
    ],
    ["A"],
)
def test_a_hero_can_clear_what_is_its_own_at_any_moment(story: list[bytes], heroes: list[str]) -> None:
    """Nothing can tell a page to forget a message that it did not understand: only a later page is not told of it."""
    scene, board = Scene(LIMITS), NaiveBoard(LIMITS)
    for index, said in enumerate(drawn(story)):
        if isinstance(said, ClearAll):
            board.show(*(one.raw for one in scene.clear(ClearAll(said.raw), others={"B"})))
        elif scene.fold(said, heroes[index % len(heroes)]) is None:
            board.show(said.raw)
    shown = NaiveBoard(LIMITS).show(*scene.replay()).picture()
    assert all(each in board.strays for each in shown["strays"])
    assert {**board.picture(), "unknown": shown["unknown"], "strays": shown["strays"]} == shown
