import re

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.console import Node, System
from codec.printable import printable
from program.drawing import NARROWEST, draw
from program.terminal import cells, fitted
from tests.program.pictures import HOUSE, TOP, hello, node

AT_110 = """\
troupe 0.1.0 · pid 41 · up 3 h 12 min · 14 actors · 1234 msg/s · 2 restarts · 1 dead letter · lag 1 ms · 48 MB

                   state      restarts  queue       msg/s
troupe             running           0
├─ store           running           0     3/1024       12
├─ sidekick        running           0                      4 rooms
│  ├─ room-編集者  running           0   256/256      123k
│  └─ … and 120 more
└─ console         backoff           3                   0  OSError: address already in use, and a long story

sidekick is down: port 5163 is in use; tried again every 10 seconds"""

AT_70 = """\
troupe 0.1.0 · pid 41 · up 3 h 12 min · 14 actors · 1234 msg/s
2 restarts · 1 dead letter · lag 1 ms · 48 MB

                   state      restarts  queue       msg/s
troupe             running           0
├─ store           running           0     3/1024       12
├─ sidekick        running           0
│  │  4 rooms
│  ├─ room-編集者  running           0   256/256      123k
│  └─ … and 120 more
└─ console         backoff           3                   0
      OSError: address already in use, and a long story

sidekick is down: port 5163 is in use; tried again every 10 seconds"""

AT_40 = """\
troupe 0.1.0 · pid 41 · up 3 h 12 min
14 actors · 1234 msg/s · 2 restarts
1 dead letter · lag 1 ms · 48 MB

                   state      restarts
troupe             running           0
├─ store           running           0
├─ sidekick        running           0
│  │  4 rooms
│  ├─ room-編集者  running           0
│  └─ … and 120 more
└─ console         backoff           3
      OSError: address already in use, …

sidekick is down: port 5163 is in use;
tried again every 10 seconds"""


@pytest.mark.parametrize(("width", "picture"), [(110, AT_110), (70, AT_70), (40, AT_40)])
def test_the_tree_is_drawn_for_the_width_there_is(width: int, picture: str) -> None:
    assert draw(HOUSE, width=width) == picture


@pytest.mark.parametrize("width", range(NARROWEST, 131))
def test_a_remark_is_drawn_once_at_whatever_width(width: int) -> None:
    remarks = hello(node("noted", note="four rooms"), node("failed", error="it is broken"))
    picture = draw(remarks, width=width)
    assert picture.count("four rooms") == picture.count("it is broken") == 1


def test_colours_are_all_that_colours_add() -> None:
    coloured = draw(HOUSE, width=110, colours=True)
    assert "\x1b[32mrunning" in coloured
    assert "\x1b[31mbackoff" in coloured
    assert "\x1b[31mOSError" in coloured
    bare = re.sub(r"\x1b\[\d+m", "", coloured)
    assert [line.rstrip() for line in bare.splitlines()] == AT_110.splitlines()


def test_a_server_without_actors_is_drawn_too() -> None:
    assert draw(hello(), width=80).splitlines()[0].startswith("troupe 0.1.0")


def test_a_row_whose_parent_is_missing_stands_at_the_margin() -> None:
    lines = draw(hello(node("troupe", **TOP), node("gone/room")), width=80).splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["troupe", "room"]


def test_what_strangers_named_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\r\n\u202e"
    picture = draw(
        hello(
            node(f"x{evil}", name=f"x{evil}", error=f"e{evil}", note=evil),
            systems=(System(f"s{evil}", "down", evil, None),),
            version=evil,
        ),
        width=200,
    )
    assert all(line.isprintable() for line in picture.split("\n"))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3_660, "1 h 1 min"), (90_000, "1 d 1 h"), (-5, "0 s")],
)
def test_how_long_it_is_up_is_said_in_two_units_at_most(seconds: float, words: str) -> None:
    assert f" · up {words} · " in draw(hello(at=1_000_000.0 + seconds), width=200)


@pytest.mark.parametrize(
    ("rate", "words"),
    [(0, "0"), (0.04, "0"), (0.5, "0.5"), (9.96, "10"), (9_999, "9999"), (12_345, "12k"), (2_700_000, "2.7M")],
)
def test_a_rate_is_short(rate: float, words: str) -> None:
    assert draw(hello(node("a", rate=rate)), width=80).splitlines()[-1].split()[-1] == words


TREES = st.lists(
    st.builds(
        lambda names, error, folded: node("/".join(names), error=error, folded=folded),
        st.lists(st.sampled_from(["a", "bb", "編集者", "a-long-name-that-goes-on"]), min_size=1, max_size=30),
        st.none() | st.text(),
        st.integers(0, 2),
    ),
    max_size=20,
    unique_by=lambda each: each.path,
)


@pytest.mark.slow
@hypothesis.settings(deadline=None)
@given(TREES, st.integers(-5, 200))
def test_every_node_is_drawn_once_and_no_line_is_too_wide(nodes: list[Node], width: int) -> None:
    lines = draw(hello(*nodes, systems=(System("judge", "down", "x " * 90, None),)), width=width).splitlines()
    assert max(map(cells, lines)) <= max(width, NARROWEST)
    assert sum("running" in line for line in lines) == len(nodes)


@pytest.mark.slow
def test_a_very_deep_tree_is_no_trouble() -> None:
    nodes = [node("/".join(["a"] * depth), name="a") for depth in range(1, 1101)]
    assert draw(hello(*nodes), width=80).count("running") == 1100


@pytest.mark.parametrize(
    ("text", "width", "result"),
    [
        ("abc", 5, "abc  "),
        ("abcdef", 4, "abc…"),
        ("編集者", 6, "編集者"),
        ("編集者", 5, "編集…"),
        ("編集者", 4, "編… "),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("", 0, ""),
    ],
)
def test_a_text_is_fitted_to_its_columns(text: str, width: int, result: str) -> None:
    assert fitted(text, width) == result
    assert cells(result) == width


def test_what_is_not_printable_is_escaped() -> None:
    assert printable("a\tb\x1b\ud800é") == "a\\tb\\x1b\\ud800é"
