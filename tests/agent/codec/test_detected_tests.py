"""Which commands are a workspace's own tests."""

import pytest

from codec.agent.detected_tests import detected_tests

PACKAGE = '{"scripts": {"test": "vitest run"}}'
CASES = [
    ({"pytest.ini"}, {}, ("pytest",)),
    ({"pyproject.toml"}, {"pyproject.toml": "[tool.pytest.ini_options]\n"}, ("python", "-m", "pytest")),
    ({"setup.cfg"}, {"setup.cfg": "[tool:pytest]\n"}, ("pytest",)),
    ({"app.py", "tests/"}, {}, ("pytest",)),
    ({"tox.ini"}, {"tox.ini": "[tox]\n"}, ("tox",)),
    ({"package.json"}, {"package.json": PACKAGE}, ("npm", "test")),
    ({"package.json", "yarn.lock"}, {"package.json": PACKAGE}, ("yarn", "test")),
    ({"package.json", "pnpm-lock.yaml"}, {"package.json": PACKAGE}, ("pnpm", "run", "test")),
    ({"Cargo.toml"}, {}, ("cargo", "test")),
    ({"go.mod"}, {}, ("go", "test", "./...")),
    ({"gradlew"}, {}, ("./gradlew", "test")),
    ({"pom.xml"}, {}, ("mvn", "test")),
    ({"mix.exs"}, {}, ("mix", "test")),
    ({"a.sln"}, {}, ("dotnet", "test")),
    ({"Makefile"}, {"Makefile": "all: x\n\ttrue\ntest: all\n\t./run\n"}, ("make", "test")),
    ({"Justfile"}, {"Justfile": "check:\n  ./run\n"}, ("just", "check")),
]


@pytest.mark.parametrize(("names", "texts", "command"), CASES, ids=[" ".join(command) for _, _, command in CASES])
def test_a_command_is_detected_by_what_is_in_the_root(
    names: set[str], texts: dict[str, str], command: tuple[str, ...]
) -> None:
    assert command in detected_tests(names, texts)


NONE: list[tuple[set[str], dict[str, str]]] = [
    (set(), {}),
    ({"README.md", "src/"}, {}),
    ({"app.py"}, {}),
    ({"package.json"}, {"package.json": "{"}),
    ({"package.json"}, {"package.json": "[]"}),
    ({"package.json"}, {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}),
    ({"package.json"}, {"package.json": '{"scripts": {"build": "x"}}'}),
    ({"Makefile"}, {"Makefile": "test := 1\n# test: no\n\ttest: no\n"}),
    ({"package.json"}, {}),
]


@pytest.mark.parametrize(("names", "texts"), NONE, ids=[str(number) for number in range(len(NONE))])
def test_nothing_is_detected_where_there_are_no_tests(names: set[str], texts: dict[str, str]) -> None:
    assert detected_tests(names, texts) == ()
