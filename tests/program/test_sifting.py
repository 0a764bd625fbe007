"""What `troupe tree` shows when only a part is asked for."""

import io
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codec.console import Hello, Node, StopNote
from program.arguments import Tree, read
from program.commands import tree
from program.drawing import draw
from program.sifting import sift
from program.trouble import Trouble
from tests.program.pictures import TOP, hello, node

WRONG: dict[str, Any] = {"lately": "crashed", "trouble": "it crashed lately", "restarts": 1}
CRASH = StopNote(1_000_000.0 + 11_460, "troupe/judge/launcher", "crashed", "LauncherLost: it has ended", None, True)
HOUSE = hello(
    node("troupe", **TOP),
    node("troupe/store"),
    node("troupe/sidekick", **TOP),
    node("troupe/sidekick/rooms", **TOP),
    node("troupe/sidekick/rooms/Grid"),
    node("troupe/sidekick/peers", **TOP, folded=7),
    node("troupe/sidekick/peers/4-ab12", called="script Grid"),
    node("troupe/sidekick/peers/5-cd34", called="page default"),
    node("troupe/sidekick/door"),
    node("troupe/judge", **TOP),
    node("troupe/judge/launcher", **WRONG),
    node("troupe/judge/door"),
    crashes=[CRASH],
)
PEERS = ["troupe/sidekick/peers/4-ab12", "troupe/sidekick/peers/5-cd34"]


def found(*words: str, trouble: bool = False) -> list[str]:
    return [each.path.removeprefix("troupe/") for each in sift(HOUSE, words, trouble=trouble).nodes]


@pytest.mark.parametrize(
    ("words", "trouble", "paths"),
    [
        (("store",), False, ["troupe", "store"]),
        (("STORE",), False, ["troupe", "store"]),
        (("judge",), False, ["troupe", "judge", "judge/launcher", "judge/door"]),
        (("rooms",), False, ["troupe", "sidekick", "sidekick/rooms", "sidekick/rooms/Grid"]),
        (("sidekick/door",), False, ["troupe", "sidekick", "sidekick/door"]),
        (("door",), False, ["troupe", "sidekick", "sidekick/door", "judge", "judge/door"]),
        (("page",), False, ["troupe", "sidekick", "sidekick/peers", "sidekick/peers/5-cd34"]),
        (("script *",), False, ["troupe", "sidekick", "sidekick/peers", "sidekick/peers/4-ab12"]),
        (("4-*",), False, ["troupe", "sidekick", "sidekick/peers", "sidekick/peers/4-ab12"]),
        (("s?ore", "launcher"), False, ["troupe", "store", "judge", "judge/launcher"]),
        (("up",), False, []),  # the top is in every path
        (("nobody",), False, []),
        ((), True, ["troupe", "judge", "judge/launcher"]),
        (("judge",), True, ["troupe", "judge", "judge/launcher"]),
        (("sidekick",), True, []),
    ],
)
def test_a_part_of_the_tree_is_what_was_asked_for_and_the_way_to_it(
    words: tuple[str, ...], trouble: bool, paths: list[str]
) -> None:
    assert found(*words, trouble=trouble) == paths


def test_the_top_is_found_by_its_whole_name() -> None:
    assert sift(HOUSE, ["troupe"], trouble=False) == HOUSE


def test_of_a_branch_that_is_not_shown_whole_nothing_is_said_to_be_left_out() -> None:
    def folded(*words: str) -> int:
        return next(each.folded for each in sift(HOUSE, words, trouble=False).nodes if each.path.endswith("peers"))

    assert (folded("peers"), folded("page")) == (7, 0)


PARTS = ["a", "bb", "ab", "x y"]
NODES = st.lists(
    st.tuples(st.lists(st.sampled_from(PARTS), max_size=3), st.booleans(), st.none() | st.sampled_from(PARTS)),
    max_size=15,
)


def planted(rows: list[tuple[list[str], bool, str | None]]) -> Hello:
    """A tree with at least these rows, parents first."""
    nodes: dict[str, Node] = {"top": node("top")}
    for names, wrong, called in rows:
        for depth in range(1, len(names) + 1):
            path = "/".join(["top", *names[:depth]])
            last = depth == len(names)
            if path not in nodes:
                nodes[path] = node(path, trouble="look" if wrong and last else None, called=called if last else None)
    return hello(*nodes.values())


@given(NODES, st.lists(st.sampled_from([*PARTS, "a*", "?b", "zz", "top", "A"]), max_size=2), st.booleans())
@example([(["a", "bb"], True, None)], ["bb"], True)
def test_whatever_is_asked_for_no_row_hangs_in_the_air_and_none_is_altered(
    rows: list[tuple[list[str], bool, str | None]], words: list[str], trouble: bool
) -> None:
    house = planted(rows)
    shown = sift(house, words, trouble=trouble)
    paths = [each.path for each in shown.nodes]
    assert all(each.parent is None or each.parent in paths for each in shown.nodes)
    assert [each for each in house.nodes if each.path in paths] == shown.nodes
    ends = [each for each in shown.nodes if not any(other.parent == each.path for other in shown.nodes)]
    if trouble:
        assert all(each.trouble for each in ends)
    if not words:
        wrong = [each.path for each in house.nodes if each.trouble]
        assert [each.path for each in shown.nodes if each.trouble] == wrong
    if not words and not trouble:
        assert shown == house


# --- drawn


def test_what_crashed_lately_is_drawn_so_and_the_last_crashes_stand_below() -> None:
    lines = draw(HOUSE, width=100).splitlines()
    (launcher,) = [line for line in lines if "─ launcher" in line]
    assert launcher.split()[-4:] == ["launcher", "restarted", "1", "0"]
    assert lines[-1] == "troupe/judge/launcher crashed 1 min ago: LauncherLost: it has ended"
    assert "script Grid" in "\n".join(lines)


# --- the command


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(msgspec.json.encode(HOUSE))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name for it
        pass


def told(*arguments: str) -> str:
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        asked = read(["tree", "--url", f"http://127.0.0.1:{server.server_port}", *arguments])
        assert isinstance(asked, Tree)
        out = io.StringIO()
        try:
            assert tree.show(asked, out) == 0
        finally:
            thread.join()
    return out.getvalue()


def test_the_command_takes_words_and_trouble() -> None:
    assert "launcher" not in told("sidekick")
    assert "store" not in told("--trouble")
    assert "launcher" in told("judge", "sidekick", "--trouble")
    assert "no trouble" in told("sidekick", "--trouble")


def test_json_holds_only_what_was_asked_for() -> None:
    nodes = json.loads(told("--json", "store"))["nodes"]
    assert [each["path"] for each in nodes] == ["troupe", "troupe/store"]


@pytest.mark.parametrize("arguments", [("nobody",), ("nobody", "--trouble"), ("nobody", "--json")])
def test_a_word_that_finds_nothing_is_said_to(arguments: tuple[str, ...]) -> None:
    with pytest.raises(Trouble, match="Nothing in the tree is called 'nobody'") as caught:
        told(*arguments)
    assert caught.value.code == 1


def test_an_empty_word_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        read(["tree", " "])
    assert "expected a part of a name or path" in capsys.readouterr().err
