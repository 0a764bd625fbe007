"""The sampler itself: what it changes, what it leaves alone, which tests it would ask."""

import ast
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from tests.mutants.__main__ import ROOT, Excuse, excused, living
from tests.mutants.mutations import Mutant, drawn, mutants
from tests.mutants.rooms import ROOMS, Imports, room_of, sources
from tests.mutants.trial import FAST, SECONDS, Stage, Trial


def changes(body: str) -> set[str]:
    """What becomes of the lines of a function."""
    source = f"def f(a, b):\n    {body}\n".encode()
    return {mutant.line_of(source) for mutant in mutants("f.py", source)}


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("x = a < b", {"x = a <= b", "x = a >= b"}),
        ("x = a == b", {"x = a != b"}),
        ("x = a is None", {"x = a is not None"}),
        ("x = a in b", {"x = a not in b"}),
        ("x = 0 <= a < b", {"x = 1 <= a < b", "x = 0 < a < b", "x = 0 > a < b", "x = 0 <= a <= b", "x = 0 <= a >= b"}),
        ("x = a and b", {"x = (a or b)"}),
        ("x = not a", {"x = bool(a)"}),
        ("x = a + 1", {"x = (a - 1)", "x = a + 2"}),
        ("x = a % b", {"x = (a * b)"}),
        ("x = True", {"x = False"}),
        ("x = 'word'", {"x = ''"}),
        ("x = b'word'", {"x = b''"}),
        ("if a: b()", {"if not (a): b()", "if a: pass"}),
        ("return a.b", {"return None"}),
        ("a.b = b", {"pass"}),
        ("a[b] += 1", {"pass", "a[b] += 2"}),
        ("del a[b]", {"pass"}),
        ("a.go(b)", {"pass"}),
        ("raise ValueError('no good')", {"pass"}),
        ("for x in a: break", {"for x in a: pass"}),
        ("x = [c for c in a if c > 0]",
         {"x = [c for c in a if c >= 0]", "x = [c for c in a if c <= 0]", "x = [c for c in a if c > 1]"}),
        ("x = 'ä' if a else b", {"x = '' if a else b", "x = 'ä' if (not a) else b"}),
    ],
)  # fmt: skip
def test_a_line_is_changed_in_each_of_these_ways(line: str, becomes: set[str]) -> None:
    assert changes(line) == becomes


@pytest.mark.parametrize(
    "line",
    [
        '"""What it is for, in 3 words."""',
        "x: Literal['a', 1]",
        "assert a < b, 'a < b'",
        "logger.info('so many: %d', a + 1)",
        "self._log.warning(a and b)",
        "x = f'{a + 1} of {b}'",
        "x = 'in words'",
        "x = isinstance(a, int | str)",
        "x = cast('A | B', a)",
        "x = a(timeout=5.0)",
        "x = a",
        "raise NotImplementedError",
        "return",
        "return None",
    ],
)
def test_what_is_no_fault_is_left_alone(line: str) -> None:
    assert changes(line) == set()


def test_checkpoints_stay() -> None:
    source = b"async def f():\n    await trio.lowlevel.checkpoint()\n    await checkpoint_if_cancelled()\n"
    assert mutants("f.py", source) == []


def test_declarations_are_left_alone() -> None:
    source = dedent(
        """
        MOST = 64 * 1024

        @dataclass(frozen=True)
        class A(B, tag="a"):
            size: int = 3
            words = {"a": 1}

            def __repr__(self):
                return self.size + 1

            def most(self, many: int = 5) -> "list[int]": ...
        """
    ).encode()
    assert mutants("a.py", source) == []


def test_a_question_is_answered_otherwise() -> None:
    source = b"def f(a) -> bool:\n    return a.b()\n"
    assert [mutant.becomes for mutant in mutants("f.py", source)] == ["not (a.b())"]


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_every_mutant_of_the_house_is_python_and_another_program(room: str) -> None:
    for mutant in drawn(living(ROOT, sources(ROOT, room), []), 20, room):  # parsing all of them takes minutes
        source = (ROOT / mutant.file).read_bytes()
        assert ast.dump(ast.parse(mutant.made(source))) != ast.dump(ast.parse(source))


def test_the_same_seed_draws_the_same_mutants_of_so_many_lines() -> None:
    source = b"def f(a, b):\n" + b"    a.x += b * (1 + 2)\n" * 20
    every = mutants("f.py", source)
    some = drawn(every, 10, "seed 1")
    assert drawn(every, 10, "seed 1") == some
    assert drawn(every, 10, "seed 2") != some
    assert len({mutant.line for mutant in some}) == 10
    assert len(drawn(every, 99, "seed 1")) == 20


# --- which tests


@pytest.fixture(scope="module")
def imports() -> Imports:
    return Imports(ROOT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "first"),
    [
        ("actors/sidekick/prose.py", "tests/sidekick/test_prose.py"),
        ("actors/sidekick/scene/viz.py", "tests/sidekick/scene/test_viz.py"),
        ("transports/wire/backlog.py", "tests/transports/wire/test_backlog.py"),
        ("codec/redaction.py", "tests/program/test_redaction.py"),
        ("codec/judge/task.py", "tests/judge/codec/test_task.py"),
    ],
)
def test_the_tests_of_the_same_name_come_first(imports: Imports, file: str, first: str) -> None:
    near, others = imports.tests(file)
    assert near[0] == first
    assert not set(near) & set(others)


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_sources_have_tests_and_none_of_a_browser(imports: Imports, room: str) -> None:
    for file in sources(ROOT, room)[::7]:
        assert room_of(file) == room
        near, others = imports.tests(file)
        assert near, f"{file} has no tests"
        assert not [test for test in near + others if test.startswith("tests/web/") or not (ROOT / test).is_file()]


# --- excuses


def test_every_excuse_has_a_reason_and_is_of_a_change_that_could_be_drawn() -> None:
    for excuse in excused():
        assert len(excuse.why) > 10
        source = (ROOT / excuse.file).read_bytes()
        assert any(excuse.covers(mutant, source) for mutant in mutants(excuse.file, source)), f"no such line: {excuse}"


def test_what_is_excused_is_not_drawn() -> None:
    file = "program/status.py"
    source = (ROOT / file).read_bytes()
    one = mutants(file, source)[0]
    line = source.splitlines()[one.line - 1].decode().strip()
    excuse = Excuse(file, line, "because", one.line_of(source))
    assert one in living(ROOT, [file], [])
    assert one not in living(ROOT, [file], [excuse])
    assert len(living(ROOT, [file], [Excuse(file, line, "because")])) <= len(living(ROOT, [file], [excuse]))


# --- trials, of a small house


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A room with a source and its tests."""
    root = tmp_path / "house"
    here = Path(__file__).parent
    files = {
        "codec/sums.py": "def least(a, b):\n    return a if a < b else b\n\n\ndef untested(a):\n    return a + 1\n",
        "codec/__init__.py": "",
        "tests/__init__.py": "",
        "tests/mutants/__init__.py": "",
        "tests/mutants/swift.py": (here / "swift.py").read_text(),
        "tests/console/test_sums.py": (
            "from codec.sums import least\n\n\ndef test_least():\n    assert (least(1, 2), least(2, 1)) == (1, 1)\n"
        ),
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\nmarkers = ["slow: s", "browser: b"]\n',
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def mutant_of(root: Path, becomes: str) -> Mutant:
    source = (root / "codec/sums.py").read_bytes()
    return next(one for one in mutants("codec/sums.py", source) if one.line_of(source) == becomes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("becomes", "fate"),
    [
        ("return a if a >= b else b", "killed"),
        ("return a if a <= b else b", "survived"),  # no fault at all
        ("return (a - 1)", "survived"),
    ],
)
def test_a_mutant_is_killed_by_a_test_that_notices_and_the_tree_is_left_as_it_was(
    house: Path, tmp_path: Path, becomes: str, fate: str
) -> None:
    before = (house / "codec/sums.py").read_bytes()
    trial = Trial(house, tmp_path / "scratch")
    assert trial.fate(mutant_of(house, becomes)) == fate
    assert (house / "codec/sums.py").read_bytes() == before
    assert (trial.copy / "codec/sums.py").read_bytes() == before


@pytest.mark.slow
def test_a_mutant_that_hangs_is_told_as_that(house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SECONDS, FAST, 3.0)
    source = b"import time\n\n\ndef least(a, b):\n    time.sleep(0)\n    return min(a, b)\n"
    (house / "codec/sums.py").write_bytes(source)
    trial = Trial(house, tmp_path / "scratch")
    (hangs,) = [one for one in mutants("codec/sums.py", source) if one.line_of(source) == "time.sleep(1)"]
    assert trial.fate(Mutant(hangs.file, hangs.line, hangs.start, hangs.end, "10 ** 9")) == "timed out"


@pytest.mark.slow
def test_a_test_that_fails_anyway_kills_nothing_and_the_others_are_asked(house: Path, tmp_path: Path) -> None:
    tests = house / "tests/console/test_sums.py"
    tests.write_text("def test_a_first_one():\n    assert False\n\n\n" + tests.read_text())
    trial = Trial(house, tmp_path / "scratch")
    assert trial.stages("codec/sums.py")[0] == Stage(FAST, ("tests/console/test_sums.py",))
    assert trial.fate(mutant_of(house, "return (a - 1)")) == "survived"
    assert trial.fate(mutant_of(house, "return a if a >= b else b")) == "killed"
