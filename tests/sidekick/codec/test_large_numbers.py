"""A number is judged by what it is, not by how it is written: a browser reads 1000000000000000000 and 1e18 as one."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from actors.sidekick.scene import Scene
from codec.sidekick import Bad, Dialect, Ear, Said
from tests.sidekick.codec.kit import modern, update
from tests.sidekick.scene.kit import told

LARGEST = int(float.fromhex("0x1.fffffffffffffp+1023"))
CANVAS = modern("canvas", "spawn", "c", {"width": 30, "height": 20})
numbers = st.integers(-LARGEST, LARGEST)


def heard(message: bytes) -> Said | list[Said]:
    return Ear(Dialect.D).hear(message)


@given(numbers, numbers, numbers)
@example(10**18, -(10**30), 2**53 + 1)
@example(LARGEST, -LARGEST, LARGEST)
def test_a_whole_number_is_drawn_wherever_a_fraction_of_its_size_is(x: int, y: int, radius: int) -> None:
    def strokes(kind: type) -> list[bytes]:
        a, b, r = kind(x), kind(y), kind(abs(radius))
        return [
            update("canvas", "c", "drawLine", x1=a, y1=b, x2=b, y2=a, lineWidth=r),
            update("canvas", "c", "drawRect", x=a, y=b, width=b, height=a, fillColor="red"),
            update("canvas", "c", "drawCircle", cx=a, cy=b, radius=r),
            update("canvas", "c", "drawText", x=a, y=b, text="t", textSize=r),
            update("canvas", "c", "drawPolyline", points=[{"x": a, "y": b}, {"x": b, "y": a}]),
        ]

    for kind in (int, float):
        assert told(Scene(), CANVAS, *strokes(kind)) == [None] * 6


@given(st.integers(min_value=LARGEST * 2) | st.integers(max_value=-LARGEST * 2))
@example(10**400)
def test_what_no_browser_has_a_number_for_is_told_by_its_field(number: int) -> None:
    fields: dict[str, Any] = {"x1": 0, "y1": 0, "x2": 0, "y2": number}
    said = heard(json.dumps(json.loads(update("canvas", "c", "drawLine", **fields))).encode())
    assert isinstance(said, Bad)
    assert said.sentence.startswith("canvas 'c' drawLine: options.y2 must be a number of a usual size, not ")
    assert len(said.sentence) < 200
