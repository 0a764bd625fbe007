"""The sampler itself: what it changes, what it leaves alone, which tests it would ask."""

import ast
import random
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from tests.mutants import trial
from tests.mutants.__main__ import ROOT, Excuse, all_of, excused, main, sources_of
from tests.mutants.mutations import Mutant, drawn, mutants
from tests.mutants.probes import NAME, probed
from tests.mutants.rooms import ROOMS, Imports, room_of, sources
from tests.mutants.trial import Trial

A_TRIAL = pytest.mark.drawn(4, of="the sampler's trials")
"""Each measures a house of a few files, and runs pytest for its mutants."""


def a_third_of(room: str) -> dict[str, bytes]:
    """Another third for each seed of the run."""
    return sources_of(ROOT, sources(ROOT, room)[random.randrange(3) :: 3])


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
        "for x in zip(a, b, strict=True): pass",
        "self.unknown(message)",
        "x = a",
        "raise NotImplementedError",
        "raise AssertionError(f'{a} has no hands')",
        "assert_never(a)",
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


@pytest.mark.drawn(6)
@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_every_mutant_of_the_house_is_python_and_another_program(room: str) -> None:
    known = a_third_of(room)
    for mutant in drawn(all_of(known), known, 20, room):  # parsing all of them takes minutes
        source = known[mutant.file]
        assert ast.dump(ast.parse(mutant.made(source))) != ast.dump(ast.parse(source))


LINES = b"def f(a, b):\n" + b"".join(b"    a.x += b * (1 + %d)\n" % number for number in range(20))


def draw(source: bytes, number: int, seed: str) -> list[Mutant]:
    return drawn(mutants("f.py", source), {"f.py": source}, number, seed)


def test_the_same_seed_draws_the_same_mutants_of_so_many_lines() -> None:
    some = draw(LINES, 10, "seed 1")
    assert draw(LINES, 10, "seed 1") == some
    assert draw(LINES, 10, "seed 2") != some
    assert len({mutant.line for mutant in some}) == 10
    assert len(draw(LINES, 99, "seed 1")) == 20


def test_a_change_elsewhere_leaves_the_draw_as_it_was() -> None:
    later = LINES.replace(b"def f(a, b):\n", b"def f(a, b):\n    a.go()\n    a.come()\n")
    before = [(mutant.line, mutant.becomes) for mutant in draw(LINES, 20, "seed 1")]
    assert [(one.line - 2, one.becomes) for one in draw(later, 22, "seed 1") if one.line > 3] == before


def test_so_many_lines_can_be_drawn_of_named_files(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(*words: str) -> str:
        assert main(["--at", "program/status.py", "--at", "program/reel.py", "--list", *words]) == 0
        return capsys.readouterr().out

    every, some = listed(), listed("--number", "5")
    assert some.count("@@ -") == 5
    assert every.count("@@ -") > 5
    assert set(some.split("--- ")) <= set(every.split("--- "))
    assert some == listed("--number", "5") != listed("--number", "5", "--seed", "2")


# --- probes


@pytest.mark.drawn(6)
@pytest.mark.parametrize("room", ROOMS)
def test_the_house_is_python_also_with_a_probe_at_every_seventh_mutant(room: str) -> None:
    for file, source in a_third_of(room).items():
        places = dict(enumerate(mutants(file, source)[::7]))
        ast.parse(text := probed(source, places, "/somewhere"))
        assert text.count(NAME.encode()) == len(places) + 1


def test_a_source_with_probes_does_as_before_and_tells_where_it_was(tmp_path: Path) -> None:
    source = dedent(
        '''
        """Sums."""
        from __future__ import annotations

        def of(a, b=2):
            if a < 0 or not b:
                b += 1
                return [one + 1 for one in range(a + 4) if (two := one) > 0 and two < 3]
            if len("x") == a: return a * b
            raise ValueError(a)
        '''
    ).encode()
    every = dict(enumerate(mutants("sums.py", source)))

    def told(text: bytes, *given: int) -> object:
        names: dict[str, object] = {}
        exec(compile(text, "sums.py", "exec"), names)
        try:
            return names["of"](*given)  # type: ignore[operator]
        except ValueError as error:
            return error.args

    for given in ((-1,), (0, 0), (1,), (5, 7)):
        for path in tmp_path.iterdir():
            path.unlink()
        assert told(probed(source, every, str(tmp_path)), *given) == told(source, *given)
        reached = {every[int(path.name)].line for path in tmp_path.iterdir()}
        assert reached == {(-1,): {6, 7, 8}, (0, 0): {6, 7, 8}, (1,): {6, 9}, (5, 7): {6, 9, 10}}[given]


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


@pytest.mark.drawn(6)
@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_sources_have_tests_and_none_of_a_browser(imports: Imports, room: str) -> None:
    for file in sources(ROOT, room)[::7]:
        assert room_of(file) == room
        near, others = imports.tests(file)
        assert near, f"{file} has no tests"
        assert not [test for test in near + others if test.startswith("tests/web/") or not (ROOT / test).is_file()]


def test_every_source_is_in_a_room() -> None:
    floors = ("actors", "codec", "program", "transports", "troupe")
    every = {str(path.relative_to(ROOT)) for floor in floors for path in (ROOT / floor).rglob("*.py")}
    assert every - {file for room in ROOMS for file in sources(ROOT, room)} == {"actors/__init__.py"}


def test_a_folder_inside_another_rooms_folder_is_no_part_of_that_room() -> None:
    of = {
        "codec/judge/task.py": "codec",
        "codec/agent/globs.py": "agent-codec",
        "codec/agent/policy/shell.py": "policy",
        "codec/agent/index/graph.py": "index",
        "actors/agent/index/watch.py": "index",
        "actors/agent/undoing.py": "agent",
        "transports/agent/index/walk.py": "index",
        "transports/agent/tree.py": "agent-transports",
        "transports/wire/backlog.py": "transports",
    }
    assert {file: room_of(file) for file in of} == of
    held = [file for room in ROOMS for file in sources(ROOT, room)]
    assert len(held) == len(set(held))
    for folder in {folder for folders, _ in ROOMS.values() for folder in folders}:
        assert {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")} <= set(held)


# --- excuses


def test_every_excuse_has_a_reason_and_is_of_a_change_that_could_be_drawn() -> None:
    for excuse in excused():
        assert len(excuse.why) > 10
        source = (ROOT / excuse.file).read_bytes()
        assert any(excuse.covers(mutant, source) for mutant in mutants(excuse.file, source)), f"no such line: {excuse}"


def test_what_is_excused_is_drawn_and_counted_and_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    one = next(excuse for excuse in excused() if excuse.becomes)
    source = (ROOT / one.file).read_bytes()
    line = next(each.line for each in mutants(one.file, source) if one.covers(each, source))
    assert main(["--at", f"{one.file}:{line}", "--list"]) == 0
    assert one.becomes not in capsys.readouterr().out


def test_an_excuse_of_a_line_covers_all_of_its_changes_and_one_of_a_change_no_other() -> None:
    file = "program/status.py"
    source = (ROOT / file).read_bytes()
    one, *others = mutants(file, source)
    line = source.splitlines()[one.line - 1].decode().strip()
    beside = [other for other in others if other.line == one.line and other.line_of(source) != one.line_of(source)]
    assert Excuse(file, line, "because", one.line_of(source)).covers(one, source)
    assert not any(Excuse(file, line, "because", one.line_of(source)).covers(other, source) for other in beside)
    assert all(Excuse(file, line, "because").covers(other, source) for other in [one, *beside])
    before = source.splitlines()[one.line - 2].decode().strip()
    assert Excuse(file, line, "because", after=before).covers(one, source)
    assert not Excuse(file, line, "because", after="another line").covers(one, source)


# --- trials, of a small house


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A room with a source and its tests. Its pytest need not load the plugins that it has no use for."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "_hypothesis_pytestplugin,pytest_timeout")
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


def fate_of(root: Path, scratch: Path, *lines: str) -> dict[str, tuple[str, str]]:
    every = {line: mutant_of(root, line) for line in lines}
    found = {mutant: (fate, by) for mutant, fate, by in Trial(root, scratch, [*every.values()]).fates()}
    return {line: found[mutant] for line, mutant in every.items()}


TURNED, NO_FAULT, UNTESTED = "return a if a >= b else b", "return a if a <= b else b", "return (a - 1)"
BY = "tests/console/test_sums.py::test_least"


@A_TRIAL
@pytest.mark.slow
def test_a_mutant_is_killed_by_a_test_that_notices_and_the_tree_is_left_as_it_was(house: Path, tmp_path: Path) -> None:
    before = (house / "codec/sums.py").read_bytes()
    assert fate_of(house, tmp_path / "scratch", TURNED, NO_FAULT, UNTESTED) == {
        TURNED: ("killed", BY),
        NO_FAULT: ("survived", "1 tests come there"),
        UNTESTED: ("survived", "0 tests come there"),
    }
    assert (house / "codec/sums.py").read_bytes() == before
    assert (tmp_path / "scratch/tree/codec/sums.py").read_bytes() == before


@A_TRIAL
@pytest.mark.slow
@pytest.mark.parametrize("stage", range(4))
def test_each_stage_asks_the_tests_that_come_there(house: Path, tmp_path: Path, stage: int) -> None:
    """Quick and slow, of the room and of another."""
    tests = house / "tests/console/test_sums.py"
    text, marked = tests.read_text(), "import pytest\n\n\n@pytest.mark.slow\ndef test_least"
    told = text.replace("def test_least", marked) if stage % 2 else text
    there = house / "tests/troupe/test_afar.py" if stage >= 2 else tests
    tests.unlink()
    there.parent.mkdir(exist_ok=True)
    # From afar it comes there as a command does: by no import, and in another process.
    started = dedent(
        """
        import subprocess, sys

        def least(a, b):
            said = f'from codec.sums import least; print(least({a}, {b}))'
            return int(subprocess.check_output([sys.executable, '-c', said]))
        """
    )
    there.write_text(told.replace("from codec.sums import least\n", started) if stage >= 2 else told)
    for stages, fate in ((stage, "survived"), (stage + 1, "killed")):
        trial = Trial(house, tmp_path / f"scratch{stages}", [mutant_of(house, TURNED)], stages=stages)
        assert [fate for _, fate, _ in trial.fates()] == [fate]


def test_at_first_sight_only_the_nearest_are_asked(house: Path, tmp_path: Path) -> None:
    for name in ("test_a", "test_b"):
        (house / f"tests/console/{name}.py").write_text("from codec.sums import least\n")
    mutant = mutant_of(house, TURNED)
    every = Trial(house, tmp_path / "all", [mutant]).files(0, mutant)
    assert len(every) == 3
    for most in (1, 2):
        assert Trial(house, tmp_path / f"{most}", [mutant], nearest=most).files(0, mutant) == every[:most]


@A_TRIAL
@pytest.mark.slow
def test_slow_tests_are_asked_the_sooner_the_less_they_take_and_the_less_else_they_come_to(
    house: Path, tmp_path: Path
) -> None:
    tests = house / "tests/console/test_sums.py"
    tests.write_text(
        dedent(
            """
            import pytest, time
            from codec.sums import least, untested

            @pytest.mark.slow
            def test_long():
                time.sleep(0.3)
                least(1, 2)

            @pytest.mark.slow
            def test_wide():
                time.sleep(0.2)
                least(1, 2), untested(1)

            @pytest.mark.slow
            def test_short():
                time.sleep(0.1)
                least(1, 2)
            """
        )
    )
    tried = [mutant_of(house, NO_FAULT), mutant_of(house, UNTESTED)]
    trial = Trial(house, tmp_path / "scratch", tried, stages=2)
    assert [fate for _, fate, _ in trial.fates()] == ["survived", "survived"]
    assert [seen.name.partition("::")[2] for seen in trial.asks(1, 0, tried[0])] == [
        "test_short",
        "test_long",
        "test_wide",
    ]


@A_TRIAL
@pytest.mark.slow
def test_one_mutant_after_another_has_a_process_that_knows_nothing_of_the_last(house: Path, tmp_path: Path) -> None:
    """Only what is from outside of the tree has been imported before."""
    (house / "tests/console/test_sums.py").write_text(
        "import sys\n\nassert 'codec' not in sys.modules\nassert 'hypothesis' in sys.modules\n\n"
        "from codec.sums import least\n\n\ndef test_least():\n    assert (least(1, 2), least(2, 1)) == (1, 1)\n"
    )
    fates = fate_of(house, tmp_path / "scratch", TURNED, NO_FAULT)
    assert {line: fate for line, (fate, _) in fates.items()} == {TURNED: "killed", NO_FAULT: "survived"}


@A_TRIAL
@pytest.mark.slow
def test_a_mutant_that_hangs_is_told_as_that(house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LEAST_LIMIT", 1.0)
    source = b"import time\n\n\ndef least(a, b):\n    time.sleep(0)\n    return min(a, b)\n"
    (house / "codec/sums.py").write_bytes(source)
    (one,) = [one for one in mutants("codec/sums.py", source) if one.line_of(source) == "time.sleep(1)"]
    hangs = Mutant(one.file, one.line, one.start, one.end, "10 ** 9")
    assert [fate for _, fate, _ in Trial(house, tmp_path / "scratch", [hangs]).fates()] == ["timed out"]


@A_TRIAL
@pytest.mark.slow
def test_a_test_that_fails_anyway_kills_nothing_and_the_others_are_asked(house: Path, tmp_path: Path) -> None:
    tests = house / "tests/console/test_sums.py"
    first = dedent(
        """
        import codec.sums

        def test_a_first_one():
            assert codec.sums.least(1, 2) + codec.sums.untested(1) == 0

        """
    )
    tests.write_text(first + tests.read_text())
    fates = fate_of(house, tmp_path / "scratch", UNTESTED, TURNED)
    assert fates == {UNTESTED: ("survived", "0 tests come there"), TURNED: ("killed", BY)}


@A_TRIAL
@pytest.mark.slow
def test_a_slow_test_that_fails_only_sometimes_kills_nothing(house: Path, tmp_path: Path) -> None:
    tests = house / "tests/console/test_sums.py"
    once = dedent(
        f"""
        from pathlib import Path
        import pytest
        from codec.sums import untested

        @pytest.mark.slow
        def test_now_and_then():
            untested(1)
            with Path({str(tmp_path / "runs")!r}).open("a+") as runs:
                runs.write("x")
                runs.seek(0)
                assert len(runs.read()) != 2

        """
    )
    tests.write_text(once + tests.read_text())
    (fate,) = fate_of(house, tmp_path / "scratch", UNTESTED).values()
    assert fate[0] == "survived"
    assert (tmp_path / "runs").read_text() == "xxx"


@A_TRIAL
@pytest.mark.slow
def test_a_test_that_takes_long_only_once_kills_nothing_and_is_asked_of_the_next(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that was busy."""
    monkeypatch.setattr(trial, "LEAST_LIMIT", 0.5)
    once = dedent(
        f"""
        import time
        from pathlib import Path
        from codec.sums import least

        def test_least():
            with Path({str(tmp_path / "runs")!r}).open("a+") as runs:
                runs.write("x")
                runs.seek(0)
                time.sleep(60 if len(runs.read()) == 2 else 0)
            assert (least(1, 2), least(2, 1)) == (1, 1)
        """
    )
    (house / "tests/console/test_sums.py").write_text(once)
    fates = fate_of(house, tmp_path / "scratch", NO_FAULT, TURNED)
    assert fates == {NO_FAULT: ("survived", "1 tests come there"), TURNED: ("killed", BY)}
    assert (tmp_path / "runs").read_text() == "xxxx"


@A_TRIAL
@pytest.mark.slow
def test_what_is_made_for_a_whole_file_counts_for_all_of_its_tests(house: Path, tmp_path: Path) -> None:
    tests = house / "tests/console/test_sums.py"
    made = dedent(
        """
        import pytest
        from codec.sums import untested

        @pytest.fixture(scope="module")
        def made():
            return untested(1)

        def test_one(made):
            pass

        def test_two(made):
            assert made == 2
        """
    )
    tests.write_text(made)
    (fate,) = fate_of(house, tmp_path / "scratch", UNTESTED).values()
    assert fate == ("killed", "tests/console/test_sums.py::test_two")


@A_TRIAL
@pytest.mark.slow
def test_what_is_kept_for_a_whole_process_counts_for_all_of_its_tests(house: Path, tmp_path: Path) -> None:
    source = (house / "codec/sums.py").read_text()
    (house / "codec/sums.py").write_text(source.replace("def untested", "@functools.cache\ndef untested"))
    (house / "codec/sums.py").write_text("import functools\n" + (house / "codec/sums.py").read_text())
    tests = house / "tests/console/test_sums.py"
    tests.write_text(
        "from codec.sums import untested\n\n\ndef test_one():\n    untested(1)\n\n\n"
        "def test_two():\n    assert untested(1) == 2\n"
    )
    (fate,) = fate_of(house, tmp_path / "scratch", UNTESTED).values()
    assert fate == ("killed", "tests/console/test_sums.py::test_two")
