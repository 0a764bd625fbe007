"""Draws the tree of a running server as text. `draw` is a pure function of the server's message and the width.

As the terminal narrows, columns are left out: first the rate, then the queue, then the restarts. The last error is at
the end of its row if there is room for a readable part of it, and below its row otherwise. The rate of a branch
includes everything in it. An empty queue is not drawn.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from codec.console import Hello, Node, StopNote
from codec.printable import printable
from program.terminal import cells, fitted

READABLE = 24
"""The smallest number of columns for an error at the end of its row."""

NARROWEST = 30

_BOLD, _DIM, _RED, _GREEN, _YELLOW = "1", "2", "31", "32", "33"

_COLOUR_OF_STATE = {
    "running": _GREEN,
    "restarted": _YELLOW,
    "starting": _YELLOW,
    "stopping": _YELLOW,
    "backoff": _RED,
    "paused": _RED,
    "stopped": _DIM,
}


class _Column(Struct, frozen=True):
    title: str
    width: int
    of: Callable[[Node], str]


def _state(node: Node) -> str:
    return "restarted" if node.state == "running" and node.lately == "crashed" else node.state


_STATE = _Column("state", 9, _state)
_RESTARTS = _Column("restarts", 8, lambda node: f"{node.restarts:>8}")
_QUEUE = _Column("queue", 10, lambda node: f"{node.queued:>4}/{node.capacity}" if node.queued else "")
_RATE = _Column("msg/s", 6, lambda node: f"{_short(node.inside):>6}" if node.inside or node.kind == "actor" else "")

CRASHES = 3
"""The number of crashes that are listed below the tree."""

_ENDED = {"crashed": "crashed", "killed": "was killed", "never started": "did not start"}


def draw(hello: Hello, *, width: int, colours: bool = False) -> str:
    """The drawing, without a newline at its end. No line is wider than `width` (or `NARROWEST`)."""
    width = max(width, NARROWEST)
    paint = _painted if colours else _plain
    lines = [paint(line, _BOLD) for line in _wrapped(_summary(hello), width, " · ")]
    lines += ["", *(_table(list(_rows(hello.nodes)), width, paint) if hello.nodes else ["no trouble"])]
    away = [system for system in hello.systems if system.state not in ("up", "off")]
    for system in away:
        words = [printable(system.name), "is", f"{system.state}:", *printable(system.sentence).split()]
        lines += ["", *(paint(line, _YELLOW) for line in _wrapped(words, width, " "))]
    if hello.crashes:
        latest = reversed(hello.crashes[-CRASHES:])
        told = [line for crash in latest for line in _wrapped(_crash(crash, hello.at).split(), width, " ")]
        lines += ["", *(paint(line, _RED) for line in told)]
    return "\n".join(lines)


_Paint = Callable[[str, str], str]


class _Row(Struct, frozen=True):
    node: Node | None
    """None for a row that counts children which the server left out."""
    label: str
    """The name, after the lines that lead to it."""
    below: str
    """The lines to the left of a remark below this row."""


def _rows(nodes: list[Node]) -> Iterator[_Row]:
    """The rows in drawing order. It does not recurse, because the server decides how deep the tree is."""
    children: dict[str | None, list[Node]] = {None: []}
    for node in nodes:
        parent = node.parent if node.parent in children else None
        children.setdefault(node.path, [])
        children[parent].append(node)
    waiting: list[tuple[Node | None, str, str]] = []
    waiting += ((root, printable(root.called or root.name), "") for root in reversed(children[None]))
    while waiting:
        row, label, under = waiting.pop()
        if row is None:
            yield _Row(None, label, under)
            continue
        node = row
        inner: list[Node | None] = [*children[node.path], *([None] if node.folded else [])]
        yield _Row(node, label, under + ("│  " if inner else "   "))
        for index in reversed(range(len(inner))):
            each = inner[index]
            name = printable(each.called or each.name) if each else f"… and {node.folded} more"
            branch, passing = ("└─ ", "   ") if index == len(inner) - 1 else ("├─ ", "│  ")
            waiting.append((each, under + branch + name, under + passing))


def _table(rows: list[_Row], width: int, paint: _Paint) -> Iterator[str]:
    columns, name_width = _layout([cells(row.label) for row in rows if row.node], width)
    titles = [" " * name_width, *(fitted(column.title, column.width) for column in columns)]
    yield paint("  ".join(titles).rstrip(), _DIM)
    beside = width - name_width - sum(column.width + 2 for column in columns) - 2
    for row in rows:
        if row.node is None:
            yield paint(fitted(row.label, width).rstrip(), _DIM)
            continue
        facts = [paint(fitted(column.of(row.node), column.width), _colour(column, row.node)) for column in columns]
        line = "  ".join([fitted(row.label, name_width), *facts])
        remark, colour = (row.node.error, _RED) if row.node.error else (row.node.note or "", _DIM)
        if remark and beside >= READABLE:
            line += "  " + paint(fitted(printable(remark), beside).rstrip(), colour)
        yield line.rstrip()
        if remark and beside < READABLE:
            below = fitted(row.below, min(cells(row.below), width))
            yield below + paint(fitted(printable(remark), width - cells(below)).rstrip(), colour)


def _layout(names: list[int], width: int) -> tuple[list[_Column], int]:
    """The columns that fit beside the names, and the width of the names."""
    columns = [_STATE, _RESTARTS, _QUEUE, _RATE]
    widest = max(names, default=0)
    while len(columns) > 1 and width - sum(column.width + 2 for column in columns) < min(widest, width // 2):
        columns.pop()
    return columns, min(widest, width - sum(column.width + 2 for column in columns))


def _summary(hello: Hello) -> list[str]:
    totals = hello.totals
    return [
        f"troupe {printable(hello.version)}",
        f"pid {hello.pid}",
        f"up {_duration(hello.at - hello.started)}",
        _count(totals.actors, "actor"),
        f"{_short(totals.rate)} msg/s",
        _count(totals.restarts, "restart"),
        *([f"{totals.crashes:,} crash{'' if totals.crashes == 1 else 'es'}"] if totals.crashes else []),
        *([f"{totals.trouble:,} in trouble"] if totals.trouble else []),
        _count(totals.dead_letters, "dead letter"),
        f"lag {totals.lag * 1000:.0f} ms",
        f"{totals.memory / 1e6:.0f} MB",
    ]


def _crash(crash: StopNote, now: float) -> str:
    named = f"{crash.called} ({crash.path})" if crash.called else crash.path
    said = f"{printable(named)} {_ENDED.get(crash.why, printable(crash.why))} {_duration(now - crash.at)} ago"
    return f"{said}: {printable(crash.error)}" if crash.error else said


def _wrapped(words: list[str], width: int, between: str) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line}{between}{word}" if line else word
        if line and cells(longer) > width:
            yield line
            longer = word
        line = fitted(longer, width).rstrip()
    yield line


def _colour(column: _Column, node: Node) -> str:
    if column is _STATE:
        return _COLOUR_OF_STATE[_state(node)]
    return _YELLOW if column is _RESTARTS and node.restarts else _DIM


def _plain(text: str, _style: str) -> str:
    return text


def _painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text.strip() else text


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _short(number: float) -> str:
    if number < 9.95:
        return f"{number:.1f}".removesuffix(".0")
    if number < 9_999.5:
        return f"{number:.0f}"
    return f"{number / 1e3:.0f}k" if number < 999_500 else f"{number / 1e6:.1f}M"


def _duration(seconds: float) -> str:
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if days >= 1:
        return f"{days:.0f} d {hours % 24:.0f} h"
    if hours >= 1:
        return f"{hours:.0f} h {minutes % 60:.0f} min"
    return f"{minutes:.0f} min" if minutes >= 1 else f"{max(seconds, 0):.0f} s"
