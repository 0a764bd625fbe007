"""Describes a problem for a page, from its post and the content of its folder. Pure."""

from collections.abc import Mapping, Sequence

from actors.judge.given import Folders, Found, Names
from actors.judge.ledger import version
from actors.judge.limits import memory_limit, time_limit
from codec.judge import MAIN, SHOWN, Case, Excerpt, Regex, ShownProblem, Task, excerpt
from codec.words import listed, sentences

MOST_TOLD, LEAST_TOLD = 8 << 20, 256
"""Bytes of all texts of a problem that are sent at once; and the least for each text, however many there are."""

MOST_ODD_NAMED = 3
"""Tests that a sentence about odd ones names."""


def told(
    task: Task, names: Names, found: Found | None, folders: Folders, unreadable: str | None = None
) -> ShownProblem:
    """`unreadable`: a sentence that says why the folder cannot be read at the moment."""
    cases = {} if found is None else found.cases
    most = min(SHOWN, max(LEAST_TOLD, MOST_TOLD // (2 * len(cases) or 1)))
    return ShownProblem(
        name=task.name,
        group=task.group,
        url=task.url,
        interactive=task.interactive,
        time_limit=time_limit(task.time_limit),
        contest_id=names[0],
        task_id=names[-1],
        tests_dir=folders.tests_dir,
        cases=tuple(
            told_case(
                names,
                index,
                excerpt(given.head, most, given.size),
                excerpt(wanted.head, most, wanted.size),
                version(given, wanted),
                folders,
            )
            for index, (given, wanted) in cases.items()
        ),
        id="/".join(names),
        memory_limit=memory_limit(task.memory_limit),
        test_type=task.test_type,
        input=task.input,
        output=task.output,
        main_path=str(folders.path(names, MAIN)),
        unsupported=unsupported(task),
        batch=task.batch,
        gone=found is not None and not found.exists,
        trouble=unreadable or (None if found is None else trouble(found.odd)),
    )


def told_case(names: Names, index: int, given: Excerpt, expected: Excerpt, version: str, folders: Folders) -> Case:
    input_path, output_path = folders.case_paths(names, index)
    return Case(
        index=index,
        input_path=str(input_path),
        output_path=str(output_path),
        input_content=given.text,
        expected_content=expected.text,
        input_size=given.size,
        expected_size=expected.size,
        input_cut=given.cut,
        expected_cut=expected.cut,
        version=version,
    )


def trouble(odd: Mapping[str, str]) -> str | None:
    """Says which files are passed over, and why; None if there are none."""
    tests = sorted((int(name.partition(".")[0]), name) for name in odd if name != MAIN)
    main = f"{MAIN} is {odd[MAIN]}, and not a file." if MAIN in odd else ""
    return sentences(main, _left_out(tests, odd)) or None


def _left_out(tests: Sequence[tuple[int, str]], odd: Mapping[str, str]) -> str:
    numbers = list(dict.fromkeys(number for number, _ in tests))
    if not numbers:
        return ""
    named = [f"{number:,}" for number in numbers[:MOST_ODD_NAMED]]
    more = [f"{len(numbers) - MOST_ODD_NAMED:,} more"] if len(numbers) > MOST_ODD_NAMED else []
    why = listed(f"{name} is {odd[name]}" for number, name in tests if number in numbers[:MOST_ODD_NAMED])
    who = f"Test {named[0]} is" if len(numbers) == 1 else f"Tests {listed([*named, *more])} are"
    first = numbers[0]
    return f"{who} left out: {why}. A test needs two plain files, such as {first}.in and {first}.out"


def unsupported(task: Task) -> str | None:
    """A sentence that says why it cannot be judged here; None if it can."""
    if task.interactive:
        return "This problem is interactive: its tests cannot be run here."
    if isinstance(task.input, Regex):
        return (
            f"This problem's input is a file that you download (its name matches {task.input.pattern}). "
            "Run your solution on that file yourself."
        )
    return None


def unknown(id: str) -> str:  # noqa: A002 - as on the wire
    return f"There is no problem {id[:80]!r} here. Send it with Competitive Companion, or open another one."
