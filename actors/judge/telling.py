"""Describes a problem for a page, from its post and the content of its folder. Pure."""


from actors.judge.given import Folders, Found, Names
from actors.judge.ledger import version
from actors.judge.limits import time_limit
from codec.judge import SHOWN, Case, Excerpt, Regex, ShownProblem, Task, excerpt

MOST_TOLD, LEAST_TOLD = 8 << 20, 256
"""Bytes of all texts of a problem that are sent at once; and the least for each text, however many there are."""


def told(task: Task, names: Names, found: Found | None, folders: Folders) -> ShownProblem:
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
        memory_limit=task.memory_limit,
        test_type=task.test_type,
        input=task.input,
        output=task.output,
        main_path=str(folders.path(names, "main.py")),
        unsupported=unsupported(task),
        batch=task.batch,
        gone=found is not None and not found.exists,
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
