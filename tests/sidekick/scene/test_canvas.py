"""Strokes, buffers, and what can no longer be seen."""

from typing import Any

import pytest

from actors.sidekick.scene import Limits, Scene
from tests.sidekick.scene.kit import message, payloads, scene_of, shown, spawn, told, update


def line(x: int, buffer: int = 0) -> bytes:
    return update("canvas-1", "drawLine", {"x1": x, "y1": 0, "x2": 0, "y2": 0, "bufferId": buffer})


def rect(color: str, x: float = 0, y: float = 0, width: float = 30, height: float = 20, buffer: int = 0) -> bytes:
    options = {"x": x, "y": y, "width": width, "height": height, "fillColor": color, "bufferId": buffer}
    return update("canvas-1", "drawRect", options)


def clear(buffer: int = 0) -> bytes:
    return update("canvas-1", "clear", {"bufferId": buffer})


def create(buffer: int) -> bytes:
    return update("canvas-1", "createBuffer", {"bufferId": buffer})


def destroy(buffer: int) -> bytes:
    return update("canvas-1", "destroyBuffer", {"bufferId": buffer})


def copy(source: int, target: int) -> bytes:
    return update("canvas-1", "drawBuffer", {"sourceBufferId": source, "targetBufferId": target})


def drawn(scene: Scene) -> list[str]:
    """What is said to draw it, in short."""
    return [short(payload["action"], payload.get("options", {})) for payload in payloads(scene, "canvas-1")[1:]]


def short(action: str, options: dict[str, Any]) -> str:
    match action:
        case "drawLine":
            return f"{options['x1']} on {options['bufferId']}"
        case "drawBuffer":
            return f"{options['sourceBufferId']} onto {options['targetBufferId']}"
        case "drawRect":
            return f"{options['fillColor']} on {options['bufferId']}"
    return f"{action.removesuffix('Buffer')} {options.get('bufferId', 0)}"


def a_canvas(*frames: bytes, limits: Limits | None = None) -> Scene:
    return scene_of(spawn("canvas-1"), *frames, limits=limits)


@pytest.mark.parametrize(
    ("frames", "left"),
    [
        ([line(1), line(2)], ["1 on 0", "2 on 0"]),
        ([line(1), clear(), line(2)], ["2 on 0"]),
        ([line(1), rect("#fff"), line(2)], ["#fff on 0", "2 on 0"]),
        ([create(1), line(1, 1), create(1), line(2, 1)], ["create 1", "2 on 1"]),
        ([create(1), line(1, 1), clear(1), line(2, 1)], ["create 1", "2 on 1"]),
        ([create(1), line(1, 1), destroy(1)], []),
        ([create(1), copy(1, 0)], ["create 1"]),
        ([create(1), line(1, 1), copy(1, 0)], ["create 1", "1 on 1", "1 onto 0"]),
        ([create(1), line(1, 1), copy(1, 0), clear()], ["create 1", "1 on 1"]),
        (
            [create(1), line(1, 1), copy(1, 0), clear(1), line(2, 1)],
            ["create 1", "1 on 1", "1 onto 0", "create 1", "2 on 1"],
        ),
        ([create(1), line(1, 1), copy(1, 0), destroy(1)], ["create 1", "1 on 1", "1 onto 0", "destroy 1"]),
        ([create(1), line(3), rect("red", buffer=1), copy(1, 0)], ["create 1", "red on 1", "1 onto 0"]),
        (
            [line(1), create(1), copy(0, 1), clear(), line(2)],
            ["1 on 0", "create 1", "0 onto 1", "clear 0", "2 on 0"],
        ),
        (
            [create(1), line(1, 1), copy(1, 0), line(2, 1), copy(1, 0)],
            ["create 1", "1 on 1", "1 onto 0", "2 on 1", "1 onto 0"],
        ),
        ([create(1), line(1, 1), copy(1, 0), copy(1, 0)], ["create 1", "1 on 1", "1 onto 0", "1 onto 0"]),
        ([line(1), copy(0, 0)], ["1 on 0", "0 onto 0"]),
        ([line(1), rect("red"), copy(0, 0)], ["red on 0"]),
    ],
)
def test_what_can_be_seen_is_drawn_again_and_no_more(frames: list[bytes], left: list[str]) -> None:
    scene = a_canvas(*frames)
    assert drawn(scene) == left
    assert {(one["component"], one["target"]) for one in shown(scene)} == {("canvas", "canvas-1")}


@pytest.mark.parametrize("color", ["#fff", "#A0b1C2", "black", "rgb(1, 2, 3)", "LightGray"])
def test_an_opaque_rectangle_over_everything_covers_everything(color: str) -> None:
    assert a_canvas(line(1), rect(color, -1, -1, 40, 40)).statistics().strokes == 1


@pytest.mark.parametrize(
    "glass",
    [
        rect("#ffff"), rect("#ffffff80"), rect("transparent"), rect("rgba(0,0,0,0.5)"), rect("hsl(1 1% 1%)"), rect(""),
        rect("red", 1), rect("red", 0, 1), rect("red", 0, 0, 29), rect("red", 0, 0, 30, 19.5),
        rect("red", 30, 20, -30, -20),
    ],
)  # fmt: skip
def test_any_other_rectangle_may_show_what_is_under_it(glass: bytes) -> None:
    assert a_canvas(line(1), glass).statistics().strokes == 2


@pytest.mark.parametrize(
    ("frame", "buffer"), [(line(1, 9), 9), (clear(9), 9), (copy(9, 0), 9), (copy(0, 9), 9), (destroy(9), 9)]
)
def test_drawing_on_a_buffer_that_is_not_there_is_refused(frame: bytes, buffer: int) -> None:
    (refusal,) = told(a_canvas(), frame)
    assert refusal is not None
    assert refusal.endswith(f"there is no buffer {buffer}: create it with createBuffer first")


def test_an_animation_that_clears_does_not_grow() -> None:
    scene = a_canvas(create(1))
    sizes = set()
    for frame in range(50):
        told(scene, clear(1), *(line(n, 1) for n in range(5)), clear(), copy(1, 0), line(100 + frame))
        sizes.add((scene.statistics().memory, scene.statistics().strokes))
    assert len(sizes) == 1


def test_a_picture_that_is_added_to_and_shown_again_and_again_costs_its_strokes() -> None:
    scene = a_canvas(create(1))
    for frame in range(50):
        told(scene, line(frame, 1), clear(), copy(1, 0))
    assert scene.statistics().strokes == 51
    assert drawn(scene)[-1] == "1 onto 0"


def test_a_canvas_that_is_never_cleared_forgets_its_oldest_strokes() -> None:
    scene = a_canvas(create(1), line(7, 1), *(line(n) for n in range(1_000)), limits=Limits(strokes=100))
    statistics = scene.statistics()
    assert 90 <= statistics.strokes <= 100
    assert statistics.strokes + statistics.forgotten == 1_001
    assert drawn(scene)[-1] == "7 on 1"
    assert drawn(scene)[-3] == "999 on 0"


def test_copies_are_strokes_and_the_oldest_of_them_are_forgotten_too() -> None:
    scene = a_canvas(create(1), line(7, 1), *[copy(1, 0)] * 1_000, limits=Limits(strokes=100))
    statistics = scene.statistics()
    assert 90 <= statistics.strokes <= 100
    assert statistics.strokes + statistics.forgotten == 1_001
    assert drawn(scene)[-1] == "1 onto 0"


def test_a_buffer_whose_background_was_forgotten_covers_nothing_any_more() -> None:
    limits = Limits(strokes=100)
    scene = a_canvas(create(1), rect("red", buffer=1), *(line(n, 1) for n in range(200)), line(999), limits=limits)
    told(scene, copy(1, 0))
    assert drawn(scene)[-2:] == ["999 on 0", "1 onto 0"]


def test_there_are_only_so_many_buffers() -> None:
    scene = a_canvas(create(1), create(2), limits=Limits(buffers=2))
    assert told(scene, create(3), create(2)) == [
        "canvas 'canvas-1' createBuffer: a canvas can have 2 buffers at most",
        None,
    ]


def test_a_removed_canvas_gives_back_all_that_it_took() -> None:
    scene = a_canvas(create(1), line(1, 1), copy(1, 0), copy(0, 1), line(2, 1), copy(1, 0), clear(1))
    told(scene, message("canvas", "remove", "canvas-1"))
    assert scene.statistics().memory == 0


def test_what_was_drawn_on_canvases_in_a_container_can_be_drawn_again_by_itself() -> None:
    into = update("canvas-1", "changeParent", {"parent": "row-1"})
    scene = a_canvas(line(1), spawn("row-1"), into, spawn("label-1", parent="row-1"))
    assert list(scene.repaint("row-1")) == [line(1)]
    assert list(scene.repaint("nothing")) == []
