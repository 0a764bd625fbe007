"""The configuration names the programs that run. A client can only choose among them, and never name another."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.store import STORE, StateDirectory, StoreClient
from codec.judge import BadChange, Commands, RunSettings, changed, without_unnamed
from codec.settings import BadSettings as BadConfiguration
from codec.settings import JudgeSettings, parse
from tests.judge.kit import Court, judging

NAMED = Commands(python_command=("python3", "python3.12"), pypy_command=("pypy3", "/opt/pypy/bin/pypy3"))
CONFIGURED = RunSettings()
Changes = dict[str, Any]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | st.sampled_from(NAMED.python_command),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
SETTINGS = ["pythonCommand", "pypyCommand", "interpreter", "runCwdMode", "jobs", "compare", "cwd", "env", "template"]
changes = st.dictionaries(st.sampled_from(SETTINGS) | st.text(max_size=8), anything, max_size=4)


@given(st.lists(changes, max_size=4))
@example([{"pythonCommand": "/tmp/evil"}])
@example([{"pythonCommand": "pypy3"}])  # named, but not for this
@example([{"pythonCommand": ["python3"]}])
@example([{"pythonCommand": "python3.12"}, {"pythonCommand": " python3"}])
def test_whatever_is_said_over_the_wire_what_would_run_is_named_in_the_configuration(said: list[Changes]) -> None:
    settings = CONFIGURED
    for each in said:
        try:
            settings = changed(settings, each, NAMED)
        except BadChange:
            continue
        assert settings.python_command in NAMED.python_command
        assert settings.pypy_command in NAMED.pypy_command
        assert settings.run_cwd_mode in ("workspace", "task")


@given(changes)
def test_of_what_was_kept_everything_is_obeyed_but_commands_that_are_not_named(kept: dict[str, Any]) -> None:
    rest, sentences = without_unnamed(kept, NAMED)
    assert set(kept) - set(rest) <= {"pythonCommand", "pypyCommand"}
    assert len(sentences) == len(kept) - len(rest)
    assert all(rest[name] in NAMED.python_command for name in rest if name == "pythonCommand")
    assert all(rest[name] in NAMED.pypy_command for name in rest if name == "pypyCommand")
    assert all(sentence.isprintable() for sentence in sentences)


# -- the configuration


@pytest.mark.parametrize(
    ("written", "commands"),
    [
        ("", ("python3",)),
        ('python_command = "python3.12"', ("python3.12",)),
        ('python_command = ["python3", "/opt/py thon/bin/python"]', ("python3", "/opt/py thon/bin/python")),
        ('python_command = ["python3", "python3"]', ("python3",)),
    ],
)
def test_the_configuration_names_one_command_or_several_of_which_the_first_is_used(
    written: str, commands: tuple[str, ...]
) -> None:
    section = parse(f"[judge]\n{written}", source="c.toml").judge
    assert section.commands == Commands(python_command=commands)
    assert section.run.python_command == commands[0]


@pytest.mark.parametrize("written", ["[]", '[""]', "3", '["python3", 3]', '["a\\nb"]', '""'])
def test_a_command_that_cannot_be_one_is_refused_with_what_was_expected(written: str) -> None:
    with pytest.raises(BadConfiguration, match=r"judge\.python_command: expected the name or path of a program, such"):
        parse(f"[judge]\npython_command = {written}", source="c.toml")


def test_what_a_page_knows_first_is_what_the_configuration_is_without_a_file() -> None:
    assert JudgeSettings().commands == Commands()


# -- the shelf


async def test_a_page_is_told_the_commands_and_chooses_among_them(directory: StateDirectory) -> None:
    async with judging(directory, commands=NAMED) as court:
        page = await court.page(greets=False)
        told = await page.greet()
        assert told["commands"] == {
            "pythonCommand": list(NAMED.python_command),
            "pypyCommand": list(NAMED.pypy_command),
        }
        await page.say("ui/updateSettings", settings={"pythonCommand": "python3.12"})
        assert (await page.heard("state/init"))["settings"]["pythonCommand"] == "python3.12"
        await page.say("ui/updateSettings", settings={"pythonCommand": "/tmp/evil", "jobs": 3})
        assert await page.notice() == (
            'The settings were not changed: pythonCommand must be "python3" or "python3.12", which the configuration '
            'names, not "/tmp/evil"'
        )
    async with judging(directory, commands=NAMED) as court:
        page = await court.page(greets=False)
        settings = (await page.greet())["settings"]
        assert (settings["pythonCommand"], settings["jobs"]) == ("python3.12", None)


async def keep(court: Court, **settings: Any) -> None:
    store = StoreClient(court.house.stage.registry.get(STORE))
    await store.put("judge", "settings", json.dumps(settings).encode())


async def test_a_command_that_was_kept_and_is_not_named_is_not_obeyed_and_the_next_page_is_told_once(
    directory: StateDirectory,
) -> None:
    async with judging(directory, commands=NAMED) as court:
        await keep(court, pythonCommand="/tmp/evil", pypyCommand="/opt/pypy/bin/pypy3", timeoutMs=700)
    async with judging(directory, commands=NAMED):
        pass  # nobody looked, so nobody was told
    async with judging(directory, commands=NAMED) as court:
        page = await court.page(greets=False)
        assert await page.notice() == (
            'pythonCommand was set to "/tmp/evil" on a page, but the configuration does not name that command, and it '
            'is not used: "python3" is. To have it, name it there (python_command under [judge]).'
        )
        await page.say("ui/requestInit")
        settings = (await page.heard("state/init"))["settings"]
        assert settings["pythonCommand"] == "python3"
        assert (settings["pypyCommand"], settings["timeoutMs"]) == ("/opt/pypy/bin/pypy3", 700)
    async with judging(directory, commands=NAMED) as court:
        page = await court.page(greets=False)
        await page.greet()
        assert not page.all("notice")
