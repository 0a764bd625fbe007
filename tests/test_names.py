"""One name has one meaning: a class is called what no other is, so that whoever finds a name has found the thing.

A Protocol and what implements it may share their name, for they mean the same; so may Protocols that ask less or more
of it. What begins with an underscore is known to its file only.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("actors", "codec", "program", "systems", "transports", "troupe")

YET = frozenset("Cancel Dialect Forget Journal Publish Record Request Row Run State View Write".split())  # noqa: SIM905
"""Still to be told apart: the IPC's, which is being built, and the lanes' states. Who renames one takes it off."""


@cache
def classes(root: Path) -> dict[str, list[tuple[str, bool]]]:
    """Where each is, and whether it is a Protocol."""
    found = defaultdict(list)
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    is_protocol = any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)
                    found[node.name].append((path.relative_to(root).as_posix(), is_protocol))
    return found


def shared(root: Path) -> list[str]:
    """A sentence for each name that stands for two things."""
    return [
        f"{name} is a class in {' and in '.join(path for path, is_protocol in places if not is_protocol)}"
        for name, places in classes(root).items()
        if name not in YET and sum(not is_protocol for _, is_protocol in places) > 1
    ]


def test_one_name_has_one_meaning() -> None:
    assert shared(ROOT) == []


def test_whatever_has_been_told_apart_is_off_the_list() -> None:
    both = {name for name, places in classes(ROOT).items() if sum(not is_protocol for _, is_protocol in places) > 1}
    assert YET - both == set()


def test_two_meanings_are_found_and_a_protocol_is_none(tmp_path: Path) -> None:
    (tmp_path / "actors").mkdir()
    (tmp_path / "codec").mkdir()
    (tmp_path / "actors" / "one.py").write_text("class Line(Protocol): ...\nclass Found: ...\nclass _Own: ...\n")
    (tmp_path / "codec" / "two.py").write_text("class Line: ...\nclass Found: ...\nclass _Own: ...\n")
    assert shared(tmp_path) == ["Found is a class in actors/one.py and in codec/two.py"]
