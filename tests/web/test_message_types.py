"""tsc's types of the messages are those of codec/, and the pages use these types by their names."""

import re
from pathlib import Path

import pytest

from tests.web.message_types import FILE, whole

WEB = FILE.parent

DOORS = [  # where messages come in, or go out; what is behind is checked from here on
    ("console/picture.js", "hear(message, now) {", "Console.Message"),
    ("judge/panel.js", "hear(message) {", "Judge.Message"),
    ("judge/judge.js", "function say(message) {", "Judge.UiMessage"),
    ("board/stage.js", "hear(message) {", "Board.Message"),
    ("board/scene.js", "apply(message) {", "Board.Message"),
    ("board/board.js", "function say(message) {", "Board.Event | Board.Fault"),
    ("board/board.js", "function hearState(state) {", "Board.BoardState"),
    ("board/button.js", "spawn({ text }) {", "Board.ButtonSpawn"),
    ("board/canvas.js", "spawn({ width, height }) {", "Board.CanvasSpawn"),
    ("board/console.js", "spawn({ showInput, text }) {", "Board.ConsoleSpawn"),
    ("board/grid.js", "spawn({ numColumns, numRows }) {", "Board.GridSpawn"),
    ("board/label.js", "spawn({ text }) {", "Board.LabelSpawn"),
    ("board/markdown.js", "spawn({ initialSource }) {", "Board.MarkdownSpawn"),
    ("board/viz.js", "update(payload) {", "Board.VizChange"),
]


def test_the_messages_are_as_codec_has_them() -> None:
    assert FILE.read_text() == whole(), "run: .venv/bin/python -m tests.web.message_types"


@pytest.mark.parametrize(("path", "door", "kind"), DOORS)
def test_a_door_says_what_comes_through_it(path: str, door: str, kind: str) -> None:
    typed = r"\* @param \{" + re.escape(kind) + r"\} \w+\s*(\*/|\n)(\s*\*[^\n]*\n)*\s*" + re.escape(door)
    assert re.search(typed, (WEB / path).read_text())


def test_nobody_looks_away() -> None:
    """No comment may exempt a file or a line from tsc or ESLint."""
    looks_away = re.compile(r"@ts-(ignore|nocheck|expect-error)|eslint-disable")
    assert [path.name for path in Path(WEB).rglob("*.js") if looks_away.search(path.read_text())] == []
