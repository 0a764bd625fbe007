"""The contents of canonical messages: one struct for each component's spawn, each action and each event of spec v2.

Rules
  - Fields are named as on the wire (`numColumns` is `num_columns` here). A field without a default is required.
  - An optional field that was not sent is None, and is left out when the struct is written.
  - These are only the forms that spec v2 prescribes. Messages of other dialects are translated before they get here, so
    readers of these structs need to know only one vocabulary.
  - Unknown fields are not here; they survive in a message's `raw`.

A viz node stays a plain dict, because it may carry unknown fields and the scene navigates it by path.
"""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

Number = float
"""A number as a browser reads it. A number too large for this type cannot be drawn."""
Positive = Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(gt=0)]
BufferId = Annotated[int, Meta(ge=0)]
OwnBufferId = Annotated[int, Meta(gt=0)]
VizNode = dict[str, Any]


class Shape(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Any object inside a payload."""


# --- spawn -----------------------------------------------------------------------------------------------------------


class SpawnPayload(Shape, frozen=True, gc=False, kw_only=True):
    parent: str | None = None


class ButtonSpawn(SpawnPayload, frozen=True, gc=False):
    text: str


class CanvasSpawn(SpawnPayload, frozen=True, gc=False):
    width: Positive
    height: Positive


class ColumnSpawn(SpawnPayload, frozen=True, gc=False):
    pass


class ConsoleSpawn(SpawnPayload, frozen=True, gc=False):
    show_input: bool
    text: str | None = None


class GridSpawn(SpawnPayload, frozen=True, gc=False):
    num_columns: Count
    num_rows: Count


class LabelSpawn(SpawnPayload, frozen=True, gc=False):
    text: str


class MarkdownSpawn(SpawnPayload, frozen=True, gc=False):
    initial_source: str


class RowSpawn(SpawnPayload, frozen=True, gc=False):
    pass


class TextboxSpawn(SpawnPayload, frozen=True, gc=False):
    initial_value: str | None = None
    placeholder: str | None = None


class VizSpawn(SpawnPayload, frozen=True, gc=False):
    pass


# --- update: options -------------------------------------------------------------------------------------------------


class NewParent(Shape, frozen=True, gc=False):
    parent: str
    insert_before: str | None = None


class Text(Shape, frozen=True, gc=False):
    text: str


class Source(Shape, frozen=True, gc=False):
    source: str


class Value(Shape, frozen=True, gc=False):
    value: str


class Placeholder(Shape, frozen=True, gc=False):
    placeholder: str


class Cell(Shape, frozen=True, gc=False):
    x: int
    y: int


class CellColor(Shape, frozen=True, gc=False):
    x: int
    y: int
    color: str | None


class CellText(Shape, frozen=True, gc=False):
    x: int
    y: int
    text: str | None


class Point(Shape, frozen=True, gc=False):
    x: Number
    y: Number


class OnBuffer(Shape, frozen=True, gc=False, kw_only=True):
    buffer_id: BufferId | None = None
    """0 or None: the visible canvas."""


class Stroked(OnBuffer, frozen=True, gc=False, kw_only=True):
    line_color: str | None = None
    line_width: NotNegative | None = None


class Filled(Stroked, frozen=True, gc=False, kw_only=True):
    fill_color: str | None = None


class Segment(Stroked, frozen=True, gc=False):
    x1: Number
    y1: Number
    x2: Number
    y2: Number


class Rect(Filled, frozen=True, gc=False):
    x: Number
    y: Number
    width: Number
    height: Number


class Circle(Filled, frozen=True, gc=False):
    cx: Number
    cy: Number
    radius: NotNegative


class Polyline(Stroked, frozen=True, gc=False):
    points: Annotated[list[Point], Meta(min_length=2)]


class Polygon(Filled, frozen=True, gc=False):
    points: Annotated[list[Point], Meta(min_length=3)]


class Ellipse(Filled, frozen=True, gc=False):
    cx: Number
    cy: Number
    radius_x: NotNegative
    radius_y: NotNegative


class Lettering(OnBuffer, frozen=True, gc=False):
    x: Number
    y: Number
    text: str
    text_color: str | None = None
    text_size: NotNegative | None = None


class Buffer(Shape, frozen=True, gc=False):
    buffer_id: OwnBufferId


class BufferCopy(Shape, frozen=True, gc=False):
    source_buffer_id: BufferId
    target_buffer_id: BufferId


class VizOptions(Shape, frozen=True):
    path: list[Any] | None = None
    """Segments are strings, numbers, booleans, null or (if a key is a tuple) arrays."""
    value_representation: VizNode | None = None
    key_representation: VizNode | None = None
    length: int | None = None


# --- update: actions -------------------------------------------------------------------------------------------------


class Action(Shape, frozen=True, gc=False, tag_field="action"):
    """The payload of an update. `action` is its name on the wire."""

    action: ClassVar[str]


class ChangeParent(Action, frozen=True, gc=False, tag="changeParent"):
    options: NewParent


class SetText(Action, frozen=True, gc=False, tag="setText"):
    """For a button or a label."""

    options: Text


class SetSource(Action, frozen=True, gc=False, tag="setSource"):
    options: Source


class SetValue(Action, frozen=True, gc=False, tag="setValue"):
    options: Value


class SetPlaceholder(Action, frozen=True, gc=False, tag="setPlaceholder"):
    options: Placeholder


class AppendText(Action, frozen=True, gc=False, tag="append"):
    options: Text


class ClearConsole(Action, frozen=True, gc=False, tag="clear"):
    options: Any = None


class SetColor(Action, frozen=True, gc=False, tag="setColor"):
    options: CellColor


class SetCellText(Action, frozen=True, gc=False, tag="setText"):
    options: CellText


class ClearCell(Action, frozen=True, gc=False, tag="clearCell"):
    options: Cell


class ClearGrid(Action, frozen=True, gc=False, tag="clear"):
    options: Any = None


class ClearCanvas(Action, frozen=True, gc=False, tag="clear"):
    options: OnBuffer


class DrawLine(Action, frozen=True, gc=False, tag="drawLine"):
    options: Segment


class DrawRect(Action, frozen=True, gc=False, tag="drawRect"):
    options: Rect


class DrawCircle(Action, frozen=True, gc=False, tag="drawCircle"):
    options: Circle


class DrawPolyline(Action, frozen=True, gc=False, tag="drawPolyline"):
    options: Polyline


class DrawPolygon(Action, frozen=True, gc=False, tag="drawPolygon"):
    options: Polygon


class DrawEllipse(Action, frozen=True, gc=False, tag="drawEllipse"):
    options: Ellipse


class DrawText(Action, frozen=True, gc=False, tag="drawText"):
    options: Lettering


class CreateBuffer(Action, frozen=True, gc=False, tag="createBuffer"):
    options: Buffer


class DrawBuffer(Action, frozen=True, gc=False, tag="drawBuffer"):
    options: BufferCopy


class DestroyBuffer(Action, frozen=True, gc=False, tag="destroyBuffer"):
    options: Buffer


class VizChange(Shape, frozen=True, gc=False):
    """A change of a variable. This is the only payload whose action is a field, because it reports what happened
    instead of ordering something, and because all of `VIZ_ACTIONS` have the same options."""

    action: str
    variable_name: str
    options: VizOptions


VIZ_ACTIONS = frozenset(
    "set setitem append pop insert delitem remove add_set discard_set clear removeVariable".split()  # noqa: SIM905
)


# --- events ----------------------------------------------------------------------------------------------------------


class Click(Shape, frozen=True, gc=False, omit_defaults=False):
    """A click on a button."""

    event: Literal["click"] = "click"


class ClickAt(Shape, frozen=True, gc=False, kw_only=True, omit_defaults=False):
    """A click on a cell of a grid, or on a pixel of a canvas."""

    event: Literal["click"] = "click"
    x: int
    y: int


class Submit(Shape, frozen=True, gc=False, kw_only=True, omit_defaults=False):
    """Text that was submitted in a console or a textbox."""

    event: Literal["submit"] = "submit"
    value: str


class FaultPayload(Shape, frozen=True, gc=False):
    message: str


class AnnouncePayload(Shape, frozen=True, gc=False):
    peer_id: str
    role: Literal["hero", "sidekick"]
    status: Literal["online", "offline"]
    version: str
    timestamp: int | float


# --- what belongs to what --------------------------------------------------------------------------------------------

SPAWNS: dict[str, type[SpawnPayload]] = {
    "button": ButtonSpawn,
    "canvas": CanvasSpawn,
    "column": ColumnSpawn,
    "console": ConsoleSpawn,
    "grid": GridSpawn,
    "label": LabelSpawn,
    "markdown": MarkdownSpawn,
    "row": RowSpawn,
    "textbox": TextboxSpawn,
    "viz": VizSpawn,
}

ACTIONS: dict[str, tuple[type[Action], ...]] = {
    "button": (SetText, ChangeParent),
    "canvas": (
        ClearCanvas,
        DrawLine,
        DrawRect,
        DrawCircle,
        DrawPolyline,
        DrawPolygon,
        DrawEllipse,
        DrawText,
        CreateBuffer,
        DrawBuffer,
        DestroyBuffer,
        ChangeParent,
    ),
    "column": (ChangeParent,),
    "console": (AppendText, ClearConsole, ChangeParent),
    "grid": (SetColor, SetCellText, ClearCell, ClearGrid, ChangeParent),
    "label": (SetText, ChangeParent),
    "markdown": (SetSource, ChangeParent),
    "row": (ChangeParent,),
    "textbox": (SetValue, SetPlaceholder, ChangeParent),
    "viz": (ChangeParent,),
}
"""The actions of each component. A viz also has `VIZ_ACTIONS`."""

EVENTS: dict[str, type[Click] | type[ClickAt] | type[Submit]] = {
    "button": Click,
    "canvas": ClickAt,
    "console": Submit,
    "grid": ClickAt,
    "textbox": Submit,
}

for _shape in {shape for shapes in ACTIONS.values() for shape in shapes}:
    _shape.action = str(_shape.__struct_config__.tag)
