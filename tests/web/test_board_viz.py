"""Variables on the board: every change that a script can send, and how it is shown."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page, expect

from actors.sidekick.scene import Scene
from codec.sidekick import Dialect, Ear, Spawn, Update
from tests.web.board_stage import BoardStage, Show, say, showing
from tests.web.board_words import Message, node, spawn, viz

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


@pytest.fixture
def show(chromium: Browser) -> Iterator[Show]:
    with showing(chromium) as show:
        yield show


@pytest.fixture(scope="module")
def opened(chromium: Browser) -> Iterator[tuple[Page, BoardStage]]:
    """A page with a viz, for all cases of a table."""
    with showing(chromium) as show:
        yield show(spawn("viz", "v"))


def rows(page: Page) -> list[str]:
    """All visible rows: level, name, value, type."""
    return cast(
        list[str],
        page.locator("board-viz .entry").evaluate_all(
            """lines => lines.map((line) => {
                const [name, value, type] = ["name", "value", "type"].map((part) =>
                    line.querySelector("." + part).textContent);
                let depth = "";
                for (let at = line.closest("ul ul"); at; at = at.parentElement.closest("ul ul")) depth += "  ";
                return depth + [name, value, type].filter(Boolean).join(" ");
            })"""
        ),
    )


def start(data: Any) -> Message:
    if isinstance(data, dict) and "type" in data:
        return viz("set", value=data)
    length = len(data) if hasattr(data, "__len__") else None
    return viz("set", value=node(data), length=length)


TUPLE_KEY = {(1, 2): "a", "b": 1}
NONE = node(None)
MANY = {**node(list(range(50))), "length": 120}
MANY["value"] = [*MANY["value"], {"type": "truncated", "value": "... (120 items total, showing first 50)", "id": "t"}]

CUT = {**node([0, 1]), "length": 3}
CUT["value"] = [*CUT["value"], {"type": "truncated", "value": "... (3 items total, showing first 2)", "id": "t"}]
CUT_DICT = {**node({"a": 1}), "length": 3}
CUT_DICT["value"] = [*CUT_DICT["value"], {"key": {"type": "truncated_key", "value": "...", "id": "k"},
                                          "value": {"type": "truncated_val", "value": "... (3", "id": "t"}}]

CASES: dict[str, tuple[Any, list[Message], list[str]]] = {
    "set": ([1], [viz("set", value=node("x"))], ["data 'x' str"]),
    "set inside": ([1, 2], [viz("set", path=[1], value=node(5))], ["data list · 2", "  0 1 int", "  1 5 int"]),
    "append": ([1], [viz("append", path=[1], value=node(2), length=2)], ["data list · 2", "  0 1 int", "  1 2 int"]),
    "append to empty": ([], [viz("append", path=[0], value=node(2), length=1)], ["data list · 1", "  0 2 int"]),
    "append at root": ([1], [viz("append", value=node(2))], ["data list · 2", "  0 1 int", "  1 2 int"]),
    "insert": ([1, 2], [viz("insert", path=[0], value=node(0), length=3)],
               ["data list · 3", "  0 0 int", "  1 1 int", "  2 2 int"]),
    "insert before the last": ([1, 2], [viz("insert", path=[-1], value=node(0), length=3)],
                               ["data list · 3", "  0 1 int", "  1 0 int", "  2 2 int"]),
    "insert far before": ([1, 2], [viz("insert", path=[-9], value=node(0), length=3)],
                          ["data list · 3", "  0 0 int", "  1 1 int", "  2 2 int"]),
    "insert far behind": ([1], [viz("insert", path=[9], value=node(2), length=2)],
                          ["data list · 2", "  0 1 int", "  1 2 int"]),
    "setitem": ([1, 2], [viz("setitem", path=[1], value=node(3.0))], ["data list · 2", "  0 1 int", "  1 3.0 float"]),
    "setitem from the end": ([1, 2], [viz("setitem", path=[-1], value=node(3))],
                             ["data list · 2", "  0 1 int", "  1 3 int"]),
    "pop": ([1, 2], [viz("pop", path=[1], value=NONE, length=1)], ["data list · 1", "  0 1 int"]),
    "remove": ([1, 2], [viz("remove", path=[0], value=NONE, length=1)], ["data list · 1", "  0 2 int"]),
    "delitem": ([1, 2], [viz("delitem", path=[-2], value=NONE, length=1)], ["data list · 1", "  0 2 int"]),
    "clear": ([1, 2], [viz("clear", value=NONE, length=0)], ["data [] list · 0"]),
    "clear in dict": ({"a": 1}, [viz("clear")], ["data {} dict · 0"]),
    "new key": ({"a": 1}, [viz("setitem", path=["b"], value=node(2), key=node("b"))],
                ["data dict · 2", "  'a' 1 int", "  'b' 2 int"]),
    "new key that the client calls None": ({}, [viz("setitem", path=[7], value=node(2), key=NONE)],
                                           ["data dict · 1", "  7 2 int"]),
    "old key": ({"a": 1}, [viz("setitem", path=["a"], value=node(2), key=node("a"))], ["data dict · 1", "  'a' 2 int"]),
    "tuple as key": (TUPLE_KEY, [viz("setitem", path=[[1, 2]], value=node("c"))],
                     ["data dict · 2", "  [1, 2] 'c' str", "  'b' 1 int"]),
    "tuple as key goes": (TUPLE_KEY, [viz("delitem", path=[[1, 2]], value=NONE, length=1)],
                          ["data dict · 1", "  'b' 1 int"]),
    "None as key": ({None: 1, "None": 2}, [viz("setitem", path=[None], value=node(3))],
                    ["data dict · 2", "  None 3 int", "  'None' 2 int"]),
    "number and text as keys": ({1: "n", "1": "t"}, [viz("delitem", path=[1], length=1)],
                                ["data dict · 1", "  '1' 't' str"]),
    "True is 1": ({1: "n"}, [viz("setitem", path=[True], value=node("y"))], ["data dict · 1", "  1 'y' str"]),
    "add": ({1}, [viz("add_set", value=node(2), length=2)], ["data set · 2", "  1 int", "  2 int"]),
    "add what is there": ({1}, [viz("add_set", value=node(1), length=1)], ["data set · 1", "  1 int"]),
    "add twice, without lengths": ({1}, [viz("add_set", value=node(2)), viz("add_set", value=node(2))],
                                   ["data set · 2", "  1 int", "  2 int"]),
    "discard None or something else": ({None, 1}, [viz("discard_set", value=NONE, length=1)],
                                       ["data set · 1", "  1 int", "  None NoneType"]),
    "inside what is not shown": ([1], [viz("append", path=[7, 0], value=node(2), length=1)],
                                 ["data list · 1", "  0 1 int"]),
    "at the edge of what is shown": (
        CUT, [viz("append", path=[3], value=node("end"), length=4), viz("pop", path=[0], length=3),
              viz("insert", path=[0], value=node("a"), length=4), viz("insert", path=[1], value=node("b"), length=5),
              viz("insert", path=[3], value=node("no"), length=6), viz("pop", path=[4])],
        ["data list · 5", "  0 'a' str", "  1 'b' str", "  2 1 int", "  … 1 more", "  4 'end' str"]),
    "a window that slides over a long list": (
        {**CUT, "length": 5}, [each for number in range(7) for each in (
            viz("append", path=[5], value=node(10 + number), length=6), viz("pop", path=[0], length=5))],
        ["data list · 5", "  0 12 int", "  1 13 int", "  2 14 int", "  3 15 int", "  4 16 int"]),
    "changes at the end of a long list": (
        {**CUT, "length": 5}, [viz("append", value=node([1])), viz("append", value=node("x")),
                               viz("setitem", path=[-1], value=node("y")), viz("append", path=[5, 1], value=node(2)),
                               viz("insert", path=[-1], value=node("z")), viz("pop", path=[5])],
        ["data list · 7", "  0 0 int", "  1 1 int", "  … 3 more", "  5 'z' str", "  6 'y' str"]),
    "what was lost on its way is hidden before what came after it": (
        [1, 2], [viz("append", path=[4], value=node(5), length=5), viz("append", path=[7], value=node(8), length=8)],
        ["data list · 8", "  0 1 int", "  1 2 int", "  … 5 more", "  7 8 int"]),
    "a long list that is cleared": (
        CUT, [viz("append", value=node(5)), viz("clear", value=NONE, length=0), viz("append", value=node(6))],
        ["data list · 1", "  0 6 int"]),
    "a set of which not all is shown": (
        {**CUT, "type": "set"}, [viz("discard_set", value=node(2)), viz("add_set", value=node(8))],
        ["data set · 3", "  0 int", "  1 int", "  8 int"]),
    "a dict of which not all is shown": (
        CUT_DICT, [viz("setitem", path=["new"], value=node(2), key=node("new"), length=4), viz("delitem", path=["c"])],
        ["data dict · 3", "  'a' 1 int", "  'new' 2 int"]),
    "discard": ({1, 2}, [viz("discard_set", value=node(1), length=1)], ["data set · 1", "  2 int"]),
    "discard a tuple": ({(1, 2), (3,)}, [viz("discard_set", value=node((3,)), length=1)],
                        ["data set · 1", "  [1, 2] list · 2"]),
    "discard the last": ({1}, [viz("discard_set", value=NONE, length=0)], ["data set() set · 0"]),
    "attribute": (Point(1, 2), [viz("set", path=["y"], value=node(True))],
                  ["data Point · 2", "  x 1 int", "  y True bool"]),
    "deep": (Point([1, {"k": [2]}], None), [viz("append", path=["x", 1, "k", 1], value=node(3), length=2)],
             ["data Point · 2", "  x [1, {'k': [2, 3]}] list · 2", "  y None NoneType"]),
    "beyond the end": ([1], [viz("setitem", path=[7], value=node(1)), viz("pop", path=[9, 1], length=3)],
                       ["data list · 1", "  0 1 int"]),
    "removeVariable": ([1], [viz("removeVariable")], []),
    "nothing there": ([1], [viz("append", name="other", value=node(1))], ["data list · 1", "  0 1 int"]),
    "prototype": ([1], [viz("set", name="__proto__", value=node(1)), viz("removeVariable", name="__proto__")],
                  ["data list · 1", "  0 1 int"]),
}  # fmt: skip


@pytest.mark.drawn(14)
@pytest.mark.parametrize("case", CASES)
def test_a_variable_changes(opened: tuple[Page, BoardStage], case: str) -> None:
    page, stage = opened
    data, changes, shown = CASES[case]
    say(page, stage, viz("removeVariable"), start(data), *changes)
    assert rows(page) == shown


@pytest.mark.drawn(14)
@pytest.mark.parametrize("case", CASES)
def test_who_comes_late_sees_a_variable_as_it_was_changed(opened: tuple[Page, BoardStage], case: str) -> None:
    page, stage = opened
    data, changes, shown = CASES[case]
    say(page, stage, viz("removeVariable"), *replay(start(data), *changes))
    assert rows(page) == shown


def replay(*messages: Message) -> list[Message]:
    """The server's messages about a viz to a page that connects after these messages."""
    scene, ear = Scene(), Ear(Dialect.D)
    for message in (spawn("viz", "v"), *messages):
        said = ear.hear(json.dumps(message).encode())
        assert isinstance(said, Spawn | Update)
        scene.fold(said)
    return [json.loads(each) for each in scene.replay()][1:]


def test_an_object_of_which_nothing_is_told_is_not_said_to_be_empty(show: Show) -> None:
    """Released clients tell of attributes alone: nothing of bytes, for one."""
    untold = {"type": "object (bytes)", "value": {}, "length": 0, "id": "b"}
    told = {"type": "object (P)", "value": {"x": node(1)}, "length": 1, "id": "p"}
    page, _ = show(spawn("viz", "v"), viz("set", value={"type": "list", "value": [untold, told], "length": 2}))
    assert rows(page) == ["data list · 2", "  0 bytes(…) bytes", "  1 P(x=1) P · 1"]


def test_a_set_that_lost_nobody_knows_what_says_so(show: Show) -> None:
    page, stage = show(spawn("viz", "v"), start({1, 2, 3}), viz("discard_set", value=NONE, length=2))
    assert rows(page)[0] == "data set · 2"
    expect(page.get_by_text("the script did not say what", exact=False)).to_be_visible()
    say(page, stage, viz("removeVariable"), *replay(start({1, 2, 3}), viz("discard_set", value=NONE, length=2)))
    expect(page.get_by_text("the script did not say what", exact=False)).to_be_visible()
    say(page, stage, start({2, 3}))
    expect(page.get_by_text("the script did not say what", exact=False)).to_have_count(0)


def test_only_the_beginning_of_a_long_list_is_there_and_the_rest_is_counted(show: Show) -> None:
    page, stage = show(spawn("viz", "v"), viz("set", value=MANY, length=120))
    assert rows(page) == ["data [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, …] list · 120"]
    page.get_by_role("button", name=re.compile("^data")).click()
    assert len(rows(page)) == 51
    expect(page.get_by_text("… 70 more")).to_be_visible()
    say(page, stage, viz("append", path=[120], value=node(1), length=121), viz("pop", path=[100], length=120),
        viz("insert", path=[0], value=node(-1), length=121))  # fmt: skip
    assert rows(page)[:2] == ["data list · 121", "  0 -1 int"]
    assert rows(page)[-2:] == ["  … 69 more", "  120 1 int"]
    expect(page.get_by_text("70 more")).to_have_count(0)


def test_the_known_end_of_a_list_may_be_very_long(show: Show) -> None:
    """When nothing is hidden any more, the two parts become one."""
    page, stage = show(spawn("viz", "v"))
    end = [{"type": "int", "value": number} for number in range(300_000)]
    note = {"type": "truncated", "value": "... (1 more)", "hidden": 1}
    long = {"type": "list", "length": len(end) + 2, "value": [{"type": "int", "value": -1}, note, *end]}
    say(page, stage, viz("set", value=long))
    assert rows(page)[0].startswith("data [-1, … 1 more, 0, 1, 2")
    say(page, stage, viz("pop", path=[1], length=len(end) + 1))
    assert rows(page)[0].startswith("data [-1, 0, 1, 2")


def test_a_variable_that_grows_for_long_stays_quick_to_show(show: Show) -> None:
    grown = (viz("append", path=[n], value=node(n)) for n in range(100, 1500))
    page, _ = show(spawn("viz", "v"), start(list(range(100))), *grown)  # so long that it starts folded
    page.get_by_role("button", name=re.compile("^data")).click()
    expect(page.get_by_text("… 500 more")).to_be_visible()
    assert len(rows(page)) == 1001


def test_recursion_depth_and_errors_are_named(show: Show) -> None:
    items = [
        {"type": "recursive_ref", "value": "<Recursive Reference to list object>", "id": "r"},
        {"type": "error", "value": "<Error representing object: no>", "id": "e"},
        {"type": "repr (module)", "value": "<module 'x'>", "id": "m"},
        {"type": "int", "value": 2**70, "id": "i"},
        {"type": "float", "value": "Infinity", "id": "f"},
        {"type": "truncated", "value": "<Max Depth 5 Reached>", "id": "t"},
    ]
    page, _ = show(spawn("viz", "v"), viz("set", value={"type": "list", "value": items, "length": 6, "id": "l"}))
    assert rows(page) == [
        "data list · 6",
        "  0 <Recursive Reference to list object> recursion",
        "  1 <Error representing object: no>",
        "  2 <module 'x'> module",
        "  3 ≈ 1.18059e+21 int",
        "  4 Infinity float",
        "  5 <Max Depth 5 Reached>",
    ]


def test_the_rows_of_a_variable_are_lists_in_lists(show: Show) -> None:
    page, _ = show(spawn("viz", "v"), start({"a": [1, 2], "b": 3}))
    page.get_by_role("button", name=re.compile("^'a'")).click()
    expect(page.get_by_role("listitem").get_by_role("listitem").get_by_role("listitem")).to_have_count(2)
    holders = page.get_by_role("listitem").locator("..").evaluate_all("all => all.map(({ role }) => role)")
    assert set(holders) == {None}


def test_rows_unfold_and_stay_so_when_values_change(show: Show) -> None:
    page, stage = show(spawn("viz", "v"), start({"a": [1, [2]], "b": 3}))
    line = page.locator("board-viz .entry")
    expect(line).to_have_count(3)
    page.get_by_role("button", name=re.compile("^'a'")).click()
    assert rows(page) == ["data dict · 2", "  'a' list · 2", "    0 1 int", "    1 [2] list · 1", "  'b' 3 int"]
    say(page, stage, start({"a": [7, [2], 8], "b": 3}))
    assert rows(page)[2:5] == ["    0 7 int", "    1 [2] list · 1", "    2 8 int"]
    page.get_by_role("button", name=re.compile("^data")).press("Enter")
    assert rows(page) == ["data {'a': [7, [2], 8], 'b': 3} dict · 2"]
    page.get_by_role("button", name=re.compile("^data")).press("Enter")
    assert rows(page)[:3] == ["data dict · 2", "  'a' list · 3", "    0 7 int"]
    assert len(rows(page)) == 6


NOTE_WHAT_LIGHTS_UP = """() => {
    window.lit = [];
    new MutationObserver((changes) => {
        for (const { target } of changes) {
            if (target.dataset.lit !== undefined) window.lit.push(target.querySelector(".name").textContent);
        }
    }).observe(document.querySelector("board-viz"), { attributeFilter: ["data-lit"], subtree: true });
}"""
"""It goes out after a while, which may be over when the test looks."""


def test_a_change_lights_up_for_a_while_where_it_can_be_seen(show: Show) -> None:
    page, stage = show(spawn("viz", "v"), start({"a": [1, 2], "b": 3}))
    lit = page.locator("board-viz [data-lit]")
    expect(lit).to_have_count(0)
    page.evaluate(NOTE_WHAT_LIGHTS_UP)
    say(page, stage, viz("setitem", path=["b"], value=node(4)))
    assert page.evaluate("window.lit") == ["'b'"]
    expect(lit).to_have_count(0)
    say(page, stage, viz("setitem", path=["a", 1], value=node(9)))
    assert page.evaluate("window.lit") == ["'b'", "'a'"]


def test_a_variable_that_is_shown_again_lights_up_where_it_differs(show: Show) -> None:
    page, stage = show(spawn("viz", "v"), start([3, 1, 2]))
    assert page.locator("board-viz [data-lit]").count() == 0
    page.evaluate(NOTE_WHAT_LIGHTS_UP)
    say(page, stage, start([1, 3, 2]))
    assert page.evaluate("window.lit") == ["0", "1"]
    expect(page.locator("board-viz [data-lit]")).to_have_count(0)
    say(page, stage, start([1, 3, 2]))
    assert page.evaluate("window.lit") == ["0", "1"]
    say(page, stage, start([1, 3]))
    assert page.evaluate("window.lit") == ["0", "1", "data"]


def test_observed_values_are_marked(show: Show) -> None:
    watched = {**node([1]), "observableTracked": True}
    page, _ = show(spawn("viz", "v"), viz("set", name="plain", value=node([1])), viz("set", name="live", value=watched))
    shown = page.locator("board-viz .watched").evaluate_all("marks => marks.map((mark) => mark.hidden)")
    assert shown == [True, True, False, True]


def test_names_and_values_are_never_markup(show: Show) -> None:
    bad = "<img src=x onerror=alert(1)>"
    page, _ = show(spawn("viz", "v"), viz("set", name=bad, value=node({bad: bad})))
    assert rows(page) == [f"{bad} dict · 1", f"  '{bad}' '{bad}' str"]
    assert page.locator("main img").count() == 0


def test_an_action_from_a_later_version_is_noted(show: Show) -> None:
    page, _ = show(spawn("viz", "v"), start([1]), viz("rotate"))
    expect(page.locator("board-viz .note")).to_have_text('A viz of this page has no action "rotate".')


TALE = "The quick brown fox jumps over the lazy dog. " * 20
TOO_NARROW = """() => [...document.querySelectorAll("board-viz .entry, board-viz .entry > *")]
    .filter((part) => part.checkVisibility() && part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
    .map((part) => part.textContent)"""


def test_nothing_is_cut_on_a_narrow_page_and_a_long_text_unfolds(show: Show) -> None:
    name = "a_name_that_is_longer_than_half_of_a_row_of_a_narrow_page"
    page, stage = show(
        spawn("viz", "v"), start({"k": TALE, "a key of many words, too many for half of a row": "x" * 90}),
        viz("set", name, value=node([1])), viz("set", "tale", value=node(TALE)),
        viewport={"width": 400, "height": 900},
    )  # fmt: skip
    expect(page.get_by_role("button", name=re.compile(f"^{name}"))).to_be_visible()
    assert page.evaluate(TOO_NARROW) == []
    tale = page.get_by_role("button", name=re.compile("^tale"))
    expect(tale.locator(".value")).to_have_text(f"'{TALE[:98]}…")
    tale.press("Enter")
    expect(tale.locator(".value")).to_have_text(f"'{TALE}'")
    expect(tale).to_have_attribute("aria-expanded", "true")
    say(page, stage, viz("set", "tale", value=node(TALE.replace("fox", "cat"))))
    expect(tale.locator(".value")).to_contain_text("lazy dog. '")
    tale.press("Enter")
    expect(tale.locator(".value")).to_contain_text("…")
    inner = page.get_by_role("button", name=re.compile("^'k'"))
    expect(inner).to_have_attribute("aria-expanded", "false")
    inner.click()
    expect(inner.locator(".value")).to_have_text(f"'{TALE}'")
    assert page.evaluate(TOO_NARROW) == []


ODD: list[Any] = [
    5, None, "x", [], {}, {"value": 1}, {"type": None, "value": 1}, {"type": 7, "value": []},
    {"type": "dict", "value": [1, 2, {"key": 1}], "id": "a"}, {"type": "dict", "value": [None, [], {"value": {}}]},
    {"type": "dict", "value": [{"key": {"type": "int", "value": 1}, "value": 3}, 4]},
    {"type": "list", "value": [1, None, {"key": {}, "value": {}}], "length": "x"},
    {"type": "list", "value": [{"key": {}, "value": {}}, 1]}, {"type": "object (A)", "value": {"a": 1, "b": None}},
    {"type": "set", "value": [{}]}, {"type": "dict", "value": {"a": {"value": {}}}}, {"type": "dict", "value": 3},
]  # fmt: skip


def test_whatever_is_no_value_is_said_to_be_none_and_the_others_are_shown(show: Show) -> None:
    page, stage = show(spawn("viz", "v"))
    for number, odd in enumerate(ODD):
        around = {"type": "list", "value": [node(1), odd, node("after it")], "length": 3, "id": "l"}
        said = [viz("set", name=f"odd{number}", value=around), viz("set", name="beside", value=node([1, number]))]
        if isinstance(odd, dict):
            said.append(viz("set", name=f"alone{number}", value=odd))
        say(page, stage, *said)
        page.get_by_role("button", name=re.compile(f"^odd{number}")).wait_for()
        for entry in page.locator("board-viz [aria-expanded=false]").all():
            entry.click()
        shown = rows(page)
        assert {"beside list · 2", f"  1 {number} int", "  2 'after it' str"} <= set(shown), odd
        assert not re.search("undefined|Cannot|NaN|is not", "\n".join(shown)), odd
        say(page, stage, viz("removeVariable", name=f"odd{number}"), viz("removeVariable", name=f"alone{number}"))
    expect(page.locator("board-viz .note")).to_have_count(0)
