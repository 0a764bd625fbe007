"""A canvas: the drawings on it and on its buffers, as far as they can still be seen.

A picture is a list of strokes on a blank layer. Three things shorten the list: `clear`, making a buffer anew, and
covering everything with an opaque rectangle or an opaque buffer. The buffer then starts a new layer, and the old one is
forgotten, unless it had been drawn onto another buffer, which still shows it.

So layers are shared and never copied. `drawBuffer` closes the source's layer (the source continues in a new layer on
top of it) and puts a `Stamp` of the closed layer into the target's list. So references only go from younger to older
layers and never form a cycle, and a count of references tells when a layer can no longer be seen. Then its cost is
given back.

A replay sends the remaining messages again, nearly in their original order. Strokes on different buffers affect each
other only through stamps. So the replay takes the stamps in order, and before each it draws the content that the
stamp's source and target had at that moment. If it needs an older picture of a buffer first, it makes the buffer anew
in between. At the end it destroys buffers that no longer exist.

A list that is never shortened would grow for ever. Above the limit, the longest lists forget their oldest strokes.
Screens that have drawn these strokes still show them; a screen that comes later does not.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import ClassVar, get_type_hints

import msgspec

from actors.sidekick.scene.limits import Budget, refused
from actors.sidekick.scene.tree import Actions, Component, Hero
from codec.sidekick import Spawn, Update, encode
from codec.sidekick.colors import is_color
from codec.sidekick.shapes import (
    Buffer,
    BufferCopy,
    CanvasSpawn,
    ClearCanvas,
    CreateBuffer,
    DestroyBuffer,
    DrawBuffer,
    DrawCircle,
    DrawEllipse,
    DrawLine,
    DrawPolygon,
    DrawPolyline,
    DrawRect,
    DrawText,
    OnBuffer,
    Rect,
)
from codec.sidekick.wording import short, unknown_color

SCREEN = 0
"""The buffer that is shown."""
STROKE = 50
"""The cost of a retained message beside its bytes."""
STAMP = 120
LAYER = 300

OPAQUE = re.compile(
    r"#(?:[0-9a-f]{3}|[0-9a-f]{6})|rgb\( *\d+ *, *\d+ *, *\d+ *\)|"
    "black|white|gray|grey|silver|red|maroon|green|lime|blue|navy|yellow|olive|orange|purple|fuchsia|magenta|teal|aqua|cyan|"
    "brown|pink|gold|beige|ivory|skyblue|lightblue|lightgr[ae]y|darkgr[ae]y|darkblue|darkgreen|lightgreen|whitesmoke",
    re.IGNORECASE,
)
"""Opaque colours. There are others, but a canvas that is filled with one of the others is not recognised as covered."""


COLORS: dict[type, tuple[tuple[str, str], ...]] = {
    get_type_hints(shape)["options"]: tuple(
        (field.name, field.encode_name)
        for field in msgspec.structs.fields(get_type_hints(shape)["options"])
        if field.name.endswith("_color")
    )
    for shape in (DrawLine, DrawRect, DrawCircle, DrawPolyline, DrawPolygon, DrawEllipse, DrawText)
}
"""For the options of each kind of stroke: the fields that are colours, as (name here, name on the wire)."""


class Layer:
    """The strokes that were drawn on one buffer, on top of `base`, or on a blank buffer if `base` is None."""

    __slots__ = ("base", "buffer", "is_opaque", "made_by", "references", "stamps", "strokes", "weight")

    def __init__(self, buffer: int, made_by: bytes, base: "Layer | None" = None) -> None:
        self.buffer = buffer
        self.made_by = made_by
        """The message that makes the buffer, blank. Empty for the screen, which always exists."""
        self.base = base
        self.is_opaque: bool = base is not None and base.is_opaque
        """Whether the layer covers a target completely when it is drawn onto it."""
        self.strokes: list[bytes | Stamp] = []
        self.stamps = 0
        """How many of the strokes are stamps."""
        self.references = 1
        self.weight = LAYER


class Stamp:
    """A layer drawn onto another."""

    __slots__ = ("moment", "raw", "source")

    def __init__(self, raw: bytes, source: Layer, moment: int) -> None:
        self.raw = raw
        self.source = source
        self.moment = moment
        """The number of this stamp, counted over the whole canvas."""


class Canvas(Component):
    __slots__ = ("buffers", "forgotten", "height", "moment", "spent", "strokes", "width")

    contains = False

    def __init__(self, message: Spawn, budget: Budget, parent: str, hero: Hero = None) -> None:
        super().__init__(message, budget, parent, hero)
        assert isinstance(message.payload, CanvasSpawn)
        self.width, self.height = message.payload.width, message.payload.height
        self.buffers = {SCREEN: Layer(SCREEN, b"")}
        self.moment = 0
        self.spent = LAYER
        """The weight of all retained layers."""
        self.strokes = 0
        """The number of strokes in them."""
        self.forgotten = 0
        """The number of forgotten strokes: they were not covered, but a screen that comes later does not see them."""

    def fault(self) -> str | None:
        limits, width, height = self.budget.limits, self.width, self.height
        if width > limits.side or height > limits.side:
            wrong = f"can be {limits.side:,} pixels wide and high at most"
        elif width * height > limits.pixels:
            wrong = f"can have {limits.pixels:,} pixels at most"
        else:
            return None
        return f"a canvas {wrong}, not {short(width)} x {short(height)}"

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self, stroke: OnBuffer, message: Update) -> str | None:
        layer = self.buffers.get(stroke.buffer_id or SCREEN)
        if layer is None:
            return self._missing(message, stroke.buffer_id)
        for field, name in COLORS[type(stroke)]:
            color = getattr(stroke, field)
            if color is not None and not is_color(color):
                return refused(message, unknown_color(name, color))
        raw, budget = message.raw, self.budget
        cost = len(raw) + STROKE
        if cost > budget.left and (wrong := budget.refusal(message, cost)):
            return wrong
        budget.left -= cost
        self.spent += cost
        layer.weight += cost
        layer.strokes.append(raw)
        self.strokes += 1
        if self.strokes > budget.limits.strokes:
            self._forget()
        return None

    def draw_rect(self, rect: Rect, message: Update) -> str | None:
        buffer = rect.buffer_id or SCREEN
        if rect.fill_color is not None and self._covers(rect) and buffer in self.buffers:
            if rect.line_color is not None and not is_color(rect.line_color):
                return refused(message, unknown_color("lineColor", rect.line_color))
            cost = len(message.raw) + STROKE + self._anew(buffer)
            if cost > self.budget.left and (wrong := self.budget.refusal(message, cost)):
                return wrong
            self._begin(buffer).is_opaque = True
        return self.draw(rect, message)

    def _covers(self, rect: Rect) -> bool:
        return (
            rect.x <= 0
            and rect.y <= 0
            and rect.x + rect.width >= self.width
            and rect.y + rect.height >= self.height
            and OPAQUE.fullmatch(rect.fill_color or "") is not None
        )

    def clear(self, options: OnBuffer, message: Update) -> str | None:
        buffer = options.buffer_id or SCREEN
        if buffer not in self.buffers:
            return self._missing(message, buffer)
        cost = self._anew(buffer) if self.buffers[buffer].references > 1 else 0
        if cost > self.budget.left and (wrong := self.budget.refusal(message, cost)):
            return wrong
        self._begin(buffer)
        return None

    # --- buffers ----------------------------------------------------------------------------------------------------

    def create_buffer(self, options: Buffer, message: Update) -> str | None:
        buffer, limits = options.buffer_id, self.budget.limits
        if buffer not in self.buffers and len(self.buffers) > limits.buffers:
            return refused(message, f"a canvas can have {limits.buffers} buffers at most")
        cost = LAYER + len(message.raw)
        if cost > self.budget.left and (wrong := self.budget.refusal(message, cost)):
            return wrong
        before = self.buffers.pop(buffer, None)
        self.buffers[buffer] = self._made(Layer(buffer, message.raw))
        if before is not None:
            self._release(before)
        return None

    def destroy_buffer(self, options: Buffer, message: Update) -> str | None:
        layer = self.buffers.pop(options.buffer_id, None)
        if layer is None:
            return self._missing(message, options.buffer_id)
        self._release(layer)
        return None

    def draw_buffer(self, options: BufferCopy, message: Update) -> str | None:
        for buffer in (options.source_buffer_id, options.target_buffer_id):
            if buffer not in self.buffers:
                return self._missing(message, buffer)
        cost = len(message.raw) + STAMP
        most = cost + self._anew(options.source_buffer_id) + self._anew(options.target_buffer_id)
        if most > self.budget.left and (wrong := self.budget.refusal(message, most)):
            return wrong
        is_itself = options.source_buffer_id == options.target_buffer_id
        source = self._closed(options.source_buffer_id)
        if source is None or (is_itself and source.is_opaque):
            return None  # the stamp would draw nothing, or what is there already
        source.references += 1
        if source.is_opaque:
            self._begin(options.target_buffer_id)
        layer = self.buffers[options.target_buffer_id]
        layer.is_opaque |= source.is_opaque
        layer.strokes.append(Stamp(message.raw, source, self.moment))
        layer.stamps += 1
        self.moment += 1
        self.strokes += 1
        self._charge(layer, cost)
        if self.strokes > self.budget.limits.strokes:
            self._forget()
        return None

    def _missing(self, message: Update, buffer: int | None) -> str:
        return refused(message, f"there is no buffer {short(buffer or SCREEN)}: create it with createBuffer first")

    # --- layers -----------------------------------------------------------------------------------------------------

    def _anew(self, buffer: int) -> int:
        """The cost of another layer of this buffer."""
        return LAYER + len(self.buffers[buffer].made_by)

    def _begin(self, buffer: int) -> Layer:
        """Replace the buffer's content by a blank layer."""
        before = self.buffers[buffer]
        if before.base is None and not before.strokes:
            return before
        self.buffers[buffer] = layer = self._made(Layer(buffer, before.made_by))
        self._release(before)
        return layer

    def _closed(self, buffer: int) -> Layer | None:
        """Close the buffer's current layer: it will not change any more. Returns it, or None if the buffer is blank."""
        layer = self.buffers[buffer]
        base = layer.base
        if not layer.strokes:
            return base
        if base is not None and base.references == 1:  # nothing else refers to it: join the two
            base.strokes += layer.strokes
            base.stamps += layer.stamps
            base.is_opaque = layer.is_opaque
            moved = layer.weight - LAYER - len(layer.made_by)
            base.weight += moved
            layer.weight -= moved
            layer.strokes, layer.stamps = [], 0
            return base
        self.buffers[buffer] = self._made(Layer(buffer, layer.made_by, layer))
        return layer

    def _made(self, layer: Layer) -> Layer:
        self._charge(layer, len(layer.made_by))
        self.spent += LAYER
        self.budget.left -= LAYER
        return layer

    def _charge(self, layer: Layer, cost: int) -> None:
        layer.weight += cost
        self.spent += cost
        self.budget.left -= cost

    def _release(self, layer: Layer) -> None:
        """Drop one reference to a layer. A layer without references is removed, and its own references are dropped."""
        waiting = [layer]
        while waiting:
            layer = waiting.pop()
            layer.references -= 1
            if layer.references:
                continue
            self._charge(layer, -layer.weight)
            self.strokes -= len(layer.strokes)
            if layer.stamps:
                waiting += [stroke.source for stroke in layer.strokes if type(stroke) is Stamp]
            layer.strokes, layer.stamps = [], 0
            if layer.base is not None:
                waiting.append(layer.base)

    def _layers(self) -> list[Layer]:
        """All layers that can still be seen."""
        found: dict[Layer, None] = {}
        waiting = list(self.buffers.values())
        while waiting:
            layer = waiting.pop()
            if layer in found:
                continue
            found[layer] = None
            if layer.base is not None:
                waiting.append(layer.base)
            if layer.stamps:
                waiting += [stroke.source for stroke in layer.strokes if type(stroke) is Stamp]
        return list(found)

    def _forget(self) -> None:
        """Forget a tenth of all strokes: the oldest ones of the longest lists, but at most half of each list at
        once."""
        left = self.strokes // 10 + 1
        layers = self._layers()
        for layer in layers:
            layer.is_opaque = False
        for layer in sorted(layers, key=lambda one: -len(one.strokes)):
            count = min(left, (len(layer.strokes) + 1) // 2)
            gone = layer.strokes[:count]
            del layer.strokes[:count]
            left -= count
            self.strokes -= count
            self.forgotten += count
            for stroke in gone:
                if type(stroke) is Stamp:
                    layer.stamps -= 1
                    self._charge(layer, -len(stroke.raw) - STAMP)
                    self._release(stroke.source)
                else:
                    self._charge(layer, -len(stroke) - STROKE)  # type: ignore[arg-type]
            if left <= 0:
                return

    # --- replay -----------------------------------------------------------------------------------------------------

    def updates(self) -> Iterator[bytes]:
        layers = self._layers()
        stamped = [layer for layer in layers if layer.stamps]
        return retold(self.target, self.buffers, {layer: layer.strokes for layer in layers}, stamped)

    def frozen(self) -> Iterable[bytes]:
        """See Component.frozen. It is enough to copy the lists of strokes, because a layer changes only in those."""
        layers = self._layers()
        strokes = {layer: layer.strokes[:] for layer in layers}
        stamped = [layer for layer in layers if layer.stamps]
        return chain([self.spawned()], retold(self.target, dict(self.buffers), strokes, stamped), self.unknown[:])

    def held(self) -> int:
        return self.spent

    actions: ClassVar[Actions] = {
        **dict.fromkeys((DrawLine, DrawCircle, DrawPolyline, DrawPolygon, DrawEllipse, DrawText), draw),
        DrawRect: draw_rect,
        ClearCanvas: clear,
        CreateBuffer: create_buffer,
        DestroyBuffer: destroy_buffer,
        DrawBuffer: draw_buffer,
    }


def retold(
    target: str, buffers: dict[int, Layer], strokes: dict[Layer, list[bytes | Stamp]], stamped: list[Layer]
) -> Iterator[bytes]:
    """The messages that draw the content of the buffers again. `strokes` has the strokes of all retained layers, and
    `stamped` has those layers whose strokes contain stamps."""
    drawn: dict[Layer, int] = {}
    """How many strokes of each layer have been drawn."""
    touched: set[int] = set()

    def draw(layer: Layer, until: int | None = None) -> Iterator[bytes]:
        """Draw a layer's strokes up to the index `until` (None: all of them), after all layers under it."""
        pile = [layer]
        while pile[-1] not in drawn and (base := pile[-1].base) is not None:
            pile.append(base)
        for one in reversed(pile):
            if one not in drawn:
                drawn[one] = 0
                if one.base is None:
                    if one.made_by:
                        yield one.made_by
                    elif one.buffer in touched:
                        yield encode(Update("canvas", target, "clear", ClearCanvas(OnBuffer())))
                    touched.add(one.buffer)
            end = until if one is layer and until is not None else len(strokes[one])
            for stroke in strokes[one][drawn[one] : end]:
                assert type(stroke) is bytes, "a stamp is drawn in its turn"
                yield stroke
            drawn[one] = max(drawn[one], end)

    stamps = sorted(
        (stroke.moment, position, layer, stroke)
        for layer in stamped
        for position, stroke in enumerate(strokes[layer])
        if type(stroke) is Stamp
    )
    for _, position, layer, stamp in stamps:
        yield from draw(stamp.source)
        yield from draw(layer, position)
        yield stamp.raw
        drawn[layer] = position + 1
    for layer in buffers.values():
        yield from draw(layer)
    for buffer in sorted(touched - buffers.keys()):
        yield encode(Update("canvas", target, "destroyBuffer", DestroyBuffer(Buffer(buffer))))
