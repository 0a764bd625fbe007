"""What a command runs that its words do not say, and when somebody has to look at it."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.policy import TELLING_NAMES, command_verdict, differing, files_behind, lines_behind
from codec.agent.workspaces import Policy

PACKAGE = json.dumps(
    {
        "scripts": {
            "pretest": "npm run build",
            "build": "tsc",
            "test": "vitest run",
            "deploy": "./deploy.sh",
            "start": "node .",
            "odd": 3,
        }
    }
)
MAKEFILE = "CC = gcc\n.PHONY: check\nall: check\n\techo all\ncheck: build\n\t@pytest -q\n\n\truff .\nbuild:\n\tmake x\n"
FILES = {
    "package.json": PACKAGE,
    "Makefile": MAKEFILE,
    "justfile": "deploy:\n    scp x\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p own --cov"\n',
    "tox.ini": "[testenv]\ncommands =\n    pytest {posargs}\n    rm -rf x\n",
}


ADDOPTS = 'addopts: "-p own --cov"'
TESTED = ["pretest: npm run build", "test: vitest run", "build: tsc"]
CHECKED = ["check: @pytest -q", "check: ruff .", "build: make x"]
BY_TOX = ["commands: pytest {posargs} rm -rf x", ADDOPTS]


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("npm test", TESTED),
        (("npm", "t", "--", "-x"), TESTED),
        ("npm tst", TESTED),
        ("npm start", ["start: node ."]),
        ("npm run start", ["start: node ."]),
        *((f"npm {run} build", ["build: tsc"]) for run in ("run", "run-script", "rum", "urn")),
        ("pnpm run deploy", ["deploy: ./deploy.sh"]),
        ("bun run deploy now", ["deploy: ./deploy.sh"]),
        ("yarn deploy", ["deploy: ./deploy.sh"]),
        ("yarn t", []),
        ("npm deploy", []),
        ("npm run odd", []),
        ("npm run", []),
        ("npm run $NAME", []),
        ("npm", []),
        ("yarn", []),
        ("yarn --", []),
        ("npm --prefix web test", []),
        ("npm run build && yarn deploy", ["build: tsc", "deploy: ./deploy.sh"]),
        ("timeout 60 npm run build", ["build: tsc"]),
        ("make check", [*CHECKED, ADDOPTS]),
        ("gmake check CC=clang", [*CHECKED, ADDOPTS]),
        ("make", ["all: echo all", *CHECKED, ADDOPTS]),
        ("make CC=clang", ["all: echo all", *CHECKED, ADDOPTS]),
        ("make build all", ["build: make x", "all: echo all", *CHECKED[:-1], ADDOPTS]),
        ("make -f other check", []),
        ("make check -n", []),
        ("make $TARGET", []),
        ("make nothing", []),
        ("just deploy", ["deploy: scp x"]),
        ("pytest", [ADDOPTS]),
        ("py.test -x", [ADDOPTS]),
        ("python -m pytest tests", [ADDOPTS]),
        ("python3.12 -m pytest", [ADDOPTS]),
        ("perl -m pytest", []),
        ("python -W pytest", []),
        ("python -m $X", []),
        ("python -m", []),
        ("tox", BY_TOX),
        ("sh -c tox", BY_TOX),
        ("$SHELL", []),
        ("ls -la", []),
        ("", []),
    ],
)
def test_what_files_say_that_a_command_runs_is_shown(command: str | tuple[str, ...], lines: list[str]) -> None:
    assert [f"{each.name}: {each.text}" for each in lines_behind(command, FILES)] == lines


@pytest.mark.parametrize(
    ("command", "files"),
    [
        *((f"{runner} test", ("package.json",)) for runner in ("npm", "yarn", "pnpm", "bun")),
        ("make", ("GNUmakefile", "makefile", "Makefile")),
        ("just x", ("Justfile", "justfile")),
        ("tox", ("tox.ini", "pyproject.toml", "setup.cfg")),
        ("py.test", ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py")),
        ("python -m tox", ("tox.ini", "pyproject.toml", "setup.cfg")),
        ("go test ./... && npm test && go vet", ("go.mod", "package.json")),
        ("timeout 60 mix test", ("mix.exs",)),
        ("dotnet test", ()),
        ("ls", ()),
    ],
)
def test_it_is_known_which_files_say_what_a_command_runs(command: str, files: tuple[str, ...]) -> None:
    assert files_behind(command) == files
    assert {each.file for each in lines_behind(command, dict.fromkeys(files, "a:\n\tb"))} <= {*files}


@pytest.mark.parametrize("there", [("GNUmakefile", "makefile", "Makefile"), ("makefile", "Makefile"), ("Makefile",)])
def test_of_several_makefiles_the_one_is_shown_that_make_reads(there: tuple[str, ...]) -> None:
    (line,) = lines_behind("make", {name: f"all:\n\techo {name}\n" for name in reversed(there)})
    assert (line.file, line.name, line.text) == (there[0], "all", f"echo {there[0]}")


NAMES = ("a", "b", "c", "d")
NOISE = ("", "# a: b", "CC = gcc", "CC := gcc", "CC:=a b", ".PHONY: a b", "  ", "\t", "include x.mk")


@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.tuples(st.lists(st.sampled_from((*NAMES, "x.o")), max_size=3), st.integers(0, 2))
    ),
    st.lists(st.sampled_from((*NAMES, "z", "A=b")), max_size=3),
    st.lists(st.sampled_from(NOISE), min_size=4, max_size=4),
    st.sampled_from(("\t", " ", "    ")),
    st.sampled_from((": ", " : ", ":: ", ":")),
)
def test_of_a_target_all_recipes_are_shown_in_the_order_in_which_they_are_needed(
    targets: dict[str, tuple[list[str], int]], wanted: list[str], noise: list[str], indent: str, colon: str
) -> None:
    text = "\techo of no target\n"
    for (name, (needed, count)), between in zip(targets.items(), noise, strict=False):
        text += f"{name}{colon}{' '.join(needed)} ; true\n"
        text += "".join(f"{indent}echo {name}{at}\n{indent if at else ''}\n" for at in range(count))
        text += f"{between}\n" + (f"{indent}echo of no target\n" if between.startswith(("CC", ".", "inc")) else "")
    shown = [each.text for each in lines_behind(("make", *wanted), {"Makefile": text})]
    named = [name for name in wanted if name != "A=b"]
    assert shown == expected(targets, named or list(targets)[:1], set())[:12]


def expected(targets: Mapping[str, tuple[list[str], int]], wanted: list[str], known: set[str]) -> list[str]:
    found = []
    for name in wanted:
        if name in targets and name not in known:
            known.add(name)
            needed, count = targets[name]
            found += [f"echo {name}{at}" for at in range(count)] + expected(targets, needed, known)
    return found


def test_of_a_long_recipe_the_first_lines_are_shown_and_of_a_long_line_its_beginning() -> None:
    recipe = "".join(f"\techo {number}\n" for number in range(20))
    assert [each.text for each in lines_behind("make", {"Makefile": f"a:\n{recipe}"})] == [
        f"echo {number}" for number in range(12)
    ]
    for length, shown in ((500, "x" * 500), (501, "x" * 499 + "…")):
        (line,) = lines_behind("make", {"Makefile": f"a:\n\t{'x' * length}"})
        assert line.text == shown


def test_scripts_that_run_scripts_are_looked_into_four_deep() -> None:
    scripts = {f"s{number}": f"npm run s{number + 1}" for number in range(6)}
    shown = lines_behind("npm run s0", {"package.json": json.dumps({"scripts": scripts})})
    assert [each.name for each in shown] == ["s0", "s1", "s2", "s3"]
    around = {"package.json": json.dumps({"scripts": {"a": "npm run a"}})}
    assert [each.name for each in lines_behind("npm run a", around)] == ["a"]


def test_of_a_script_those_are_shown_too_that_npm_runs_before_and_after_it() -> None:
    scripts = {"posttest": "3", "test": "2", "pretest": "1", "prebuild": "no"}
    shown = lines_behind("npm test", {"package.json": json.dumps({"scripts": scripts})})
    assert [(each.file, each.name, each.text) for each in shown] == [
        ("package.json", "pretest", "1"),
        ("package.json", "test", "2"),
        ("package.json", "posttest", "3"),
    ]


@pytest.mark.parametrize("text", ["", "x", "[]", "3", "{}", '{"scripts": []}', '{"scripts": null}', "[" * 100_000])
def test_a_file_that_says_nothing_of_scripts_is_taken_for_one_without_any(text: str) -> None:
    assert lines_behind("npm test", {"package.json": text}) == ()


odd = st.sampled_from((PACKAGE, MAKEFILE, "[]", '{"scripts": []}', "a: a\n\tmake a"))
texts = st.one_of(st.text(max_size=200), odd)


@given(
    st.sampled_from(("npm test", "make", "make a", "tox", "pytest", "yarn a", "just a")),
    st.dictionaries(st.sampled_from((*FILES, "Justfile", "pytest.ini")), texts),
)
def test_any_file_says_something_bounded(command: str, files: Mapping[str, str]) -> None:
    found = lines_behind(command, files)
    assert len(found) <= 12
    assert all(len(each.text) <= 500 for each in found)


TESTS = (("npm", "test"), ("pytest",), ("make", "check"), ("go", "test"))


@pytest.mark.parametrize(
    ("command", "changed", "policy", "decision"),
    [
        ("npm test", (), {}, "allow"),
        ("npm test", ("src/a.js", "src/package.json.md"), {}, "allow"),
        ("npm test", ("package.json",), {}, "ask"),
        ("npm test", ("web/package.json",), {}, "ask"),
        ("npm test", ("Makefile",), {}, "allow"),
        ("make check", ("Makefile",), {}, "ask"),
        ("pytest", ("tests/conftest.py",), {}, "ask"),
        ("pytest", ("pyproject.toml",), {}, "ask"),
        ("pytest", ("tests/test_a.py",), {}, "allow"),
        ("npm test", (), {"blocked_globs": ("package.json",)}, "ask"),
        ("npm test", (), {"allowed_read_globs": ("src/**",)}, "ask"),
        ("npm test", ("package.json",), {"allowed_commands": ("npm test",)}, "allow"),
        ("npm test", ("package.json",), {"command_approval": "never"}, "allow"),
        ("npm test", ("package.json",), {"blocked_commands": ("npm",)}, "deny"),
        ("npm test", None, {}, "ask"),
        ("npm test", None, {"command_approval": "never"}, "allow"),
        ("go test", ("a.go",), {}, "allow"),
    ],
)
def test_tests_that_need_no_approval_ask_if_anybody_has_changed_what_they_run_or_nobody_can_look(
    command: str, changed: tuple[str, ...] | None, policy: dict[str, object], decision: str
) -> None:
    rules = Policy(auto_approve_tests=True, **policy)  # type: ignore[arg-type]
    verdict = command_verdict(rules, "ask", (), command, tests=TESTS, changed=changed)
    assert verdict.decision == decision
    if decision == "ask":
        assert verdict.rule == "auto_approve_tests"
        assert "what the tests run" in verdict.reason
    elsewhere = command_verdict(rules, "ask", (), command, tests=TESTS, folder="web")
    assert elsewhere.decision != "allow" or policy, "it is the root's tests that were found"


DIGESTS = st.sampled_from(["1", "2", None])
TOLD = st.dictionaries(st.sampled_from(["package.json", "web/package.json", "Makefile", "conftest.py"]), DIGESTS)


@given(TOLD, TOLD)
def test_only_files_that_say_word_for_word_what_they_said_have_not_changed(
    before: dict[str, str | None], now: dict[str, str | None]
) -> None:
    same = {path for path, digest in now.items() if digest is not None and before.get(path) == digest}
    assert differing(before, now) == {*before, *now} - same
    assert differing(now, before) == differing(before, now)


def test_every_file_that_says_what_a_test_command_runs_is_looked_at() -> None:
    for command in ("npm test", "make test", "pytest", "tox", "cargo test", "go test", "./gradlew test", "mvn test"):
        assert TELLING_NAMES.issuperset(files_behind(command))
        assert files_behind(command)
