"""A grid: for each cell, the message that set its colour and the one that set its text, if there are any.

It is sparse, so the cost of a large grid depends on its content. Messages are kept as they came, so an update is one
store into a dict.
"""

from collections.abc import Iterator
from itertools import chain
from typing import ClassVar

from actors.sidekick.scene.limits import Budget, refused
from actors.sidekick.scene.tree import Actions, Component, Hero
from codec.sidekick import Spawn, Update
from codec.sidekick.colors import is_color
from codec.sidekick.shapes import Cell, CellColor, CellText, ClearCell, ClearGrid, GridSpawn, SetCellText, SetColor
from codec.sidekick.wording import short, unknown_color

CELL = 150
"""The cost of a retained message beside its bytes: its object, its key and its entry in the dict."""


class Grid(Component):
    __slots__ = ("colors", "columns", "rows", "texts")

    contains = False

    def __init__(self, message: Spawn, budget: Budget, parent: str, hero: Hero = None) -> None:
        super().__init__(message, budget, parent, hero)
        assert isinstance(message.payload, GridSpawn)
        self.columns, self.rows = message.payload.num_columns, message.payload.num_rows
        self.colors: dict[int, bytes] = {}
        self.texts: dict[int, bytes] = {}

    def fault(self) -> str | None:
        most = self.budget.limits.cells
        if self.columns * self.rows > most:
            return f"a grid can have {most:,} cells at most, not {short(self.columns)} x {short(self.rows)}"
        return None

    def set_color(self, cell: CellColor, message: Update) -> str | None:
        x, y = cell.x, cell.y
        if not (0 <= x < self.columns and 0 <= y < self.rows):
            return self._outside(message, x, y)
        if cell.color is not None and not is_color(cell.color):
            return refused(message, unknown_color("color", cell.color))
        return self._set(self.colors, y * self.columns + x, message, cell.color is None)

    def set_text(self, cell: CellText, message: Update) -> str | None:
        x, y = cell.x, cell.y
        if not (0 <= x < self.columns and 0 <= y < self.rows):
            return self._outside(message, x, y)
        return self._set(self.texts, y * self.columns + x, message, not cell.text)

    def _set(self, layer: dict[int, bytes], cell: int, message: Update, is_empty: bool) -> str | None:
        before = layer.get(cell)
        if is_empty:
            if before is not None:
                del layer[cell]
                self.budget.left += len(before) + CELL
            return None
        raw = message.raw
        cost = len(raw) + CELL if before is None else len(raw) - len(before)
        budget = self.budget
        if cost > 0 and cost > budget.left and (wrong := budget.refusal(message, cost)):
            return wrong
        budget.left -= cost
        layer[cell] = raw
        return None

    def clear_cell(self, cell: Cell, message: Update) -> str | None:
        x, y = cell.x, cell.y
        if not (0 <= x < self.columns and 0 <= y < self.rows):
            return self._outside(message, x, y)
        for layer in (self.colors, self.texts):
            self._set(layer, y * self.columns + x, message, True)
        return None

    def clear(self, _: object, message: Update) -> str | None:
        self.budget.left += self.held()
        self.colors.clear()
        self.texts.clear()
        return None

    def _outside(self, message: Update, x: int, y: int) -> str:
        columns, rows = f"x is 0 to {self.columns - 1}", f"y is 0 to {self.rows - 1}"
        return refused(message, f"there is no cell {short(x)}, {short(y)} in this grid: {columns}, {rows}")

    def updates(self) -> Iterator[bytes]:
        return chain(self.colors.values(), self.texts.values())

    def held(self) -> int:
        cells = len(self.colors) + len(self.texts)
        return sum(map(len, self.colors.values())) + sum(map(len, self.texts.values())) + CELL * cells

    actions: ClassVar[Actions] = {SetColor: set_color, SetCellText: set_text, ClearCell: clear_cell, ClearGrid: clear}
