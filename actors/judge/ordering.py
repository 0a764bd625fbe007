"""Makes the order for a run from the request, the folder and the settings; or says in a sentence why there is none."""

from pathlib import Path

from actors.judge.given import Folders, Found, Names
from actors.judge.limits import limits
from actors.judge.run import RunOrder
from actors.judge.telling import unsupported
from codec.judge import MAIN, RunSettings, Task

MOST_CASES_NAMED = 20
"""Cases that a sentence names."""


class NotNow(Exception):
    """A run is not possible. The text is a sentence that says why."""


def wanted(task: Task, names: Names, found: Found, folders: Folders, indices: tuple[int, ...] | None) -> list[int]:
    """The cases to run, in order. Raises NotNow if these, or any, cannot be run."""
    problem = "/".join(names)
    if (sentence := unsupported(task)) is not None:
        raise NotNow(sentence)
    if not found.has_main:
        main = folders.path(names, MAIN)
        if MAIN in found.odd:
            raise NotNow(f"There is no solution: {main} is {found.odd[MAIN]}, and not a file. Write it, and run again.")
        raise NotNow(f"There is no solution: {main} is missing. Write it, and run again.")
    if not found.cases:
        tests = folders.path(names, folders.tests_dir)
        raise NotNow(f"{problem} has no tests. Put some into {tests}, as 1.in and 1.out.")
    if indices is None:
        return list(found.cases)
    if not indices:
        raise NotNow(f"The request names no case of {problem}; leave out indices to run all of them.")
    if missing := sorted(set(indices).difference(found.cases)):
        raise NotNow(f"{problem} has no case {missing[0]}; {_there_are(list(found.cases))}.")
    return sorted(set(indices))


def order(
    task: Task,
    names: Names,
    found: Found,
    indices: list[int],
    settings: RunSettings,
    interpreter: Path,
    folders: Folders,
    cores: int,
) -> RunOrder:
    return RunOrder(
        task=names,
        program=(str(interpreter), str(folders.path(names, MAIN))),
        cwd=folders.root if settings.run_cwd_mode == "workspace" else folders.path(names),
        indices=indices,
        limits=limits(settings, task.time_limit, task.memory_limit),
        compare=settings.compare,
        jobs=settings.jobs or cores,
        input=task.input,
        output=task.output,
        expected={index: found.cases[index][1] for index in indices},
    )


def command(settings: RunSettings) -> str:
    return settings.pypy_command if settings.interpreter == "pypy" else settings.python_command


def missing(settings: RunSettings, why: str) -> str:
    """Says that there is no interpreter, why, and what to do about it."""
    if settings.interpreter == "pypy":
        return (
            f"There is no PyPy to run this with: {why}. Install it (Debian: apt install pypy3; "
            "macOS: brew install pypy3), or name it in the configuration: pypy_command under [judge]."
        )
    return (
        f"There is no Python to run this with: {why}. "
        "Name one that works in the configuration, for instance python3: python_command under [judge]."
    )


def _there_are(indices: list[int]) -> str:
    named = ", ".join(map(str, indices[:MOST_CASES_NAMED]))
    more = len(indices) - MOST_CASES_NAMED
    return f"there are {named}" + (f" and {more:,} more" if more > 0 else "")
