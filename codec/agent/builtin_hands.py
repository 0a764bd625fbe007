"""What the embedded model does with hands: it proposes the fixes that ruff can make, and runs the workspace's tests.

    /fix                       ruff check --fix --diff FILES ─> its diff as propose_diff ─> what came of it
    /test, "run the tests"     list_files, read_file of what tells more ─> the command ─> how it ended

Both begin with a command, about which the user is asked as about any other. The next step follows from the results so
far; without the tools for it, there is none.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

from codec.agent.advice import for_people
from codec.agent.detected_tests import TELLING, detected_tests
from codec.agent.findings import RunExcerpt, read_entries_text, read_file_text, read_run_text
from codec.agent.models import ToolCall

WantedCall = tuple[str, dict[str, Any]]
Results = Sequence[tuple[ToolCall, str]]
RUFF = ("ruff", "check", "--fix", "--diff")
MOST_FILES, MOST_SAID = 10, 20
"""Files that are fixed at once; lines of a command's output that are shown."""
_RUN_TESTS = re.compile(r"(?i)\b(?:re-?)?(?:run|execute|start)\b[^.?!]{0,30}\btests?(?: suite)?\b(?!\.)")
_SUMMARY = re.compile(r"\n+(?:Would fix|Found|No errors)[^\n]*\s*\Z")
_CUT = "characters are left out here]"


def wants_tests(command: str | None, words: str) -> bool:
    return command == "/test" or asks_only_to_run(command, words)


def asks_only_to_run(command: str | None, words: str) -> bool:
    """Whether the message is about running the tests, and about nothing to be looked up."""
    return command is None and len(words) < 200 and _RUN_TESTS.search(words) is not None


def calls_for_tests(results: Results) -> list[WantedCall]:
    """What is to be called next, so that the tests are run. Empty: nothing more."""
    if _runs(results):
        return []
    names = _root(results)
    if names is None:
        return [("list_files", {})]
    read = {str(call.arguments.get("file_path")) for call, _ in results if call.name == "read_file"}
    if missing := [name for name in TELLING if name in names and name not in read]:
        return [("read_file", {"file_path": name}) for name in missing]
    why = "To see whether the tests pass"
    return [("execute_command", {"argv": list(words), "reason": why}) for words in _detected(names, results)[:1]]


def calls_for_fixes(paths: Collection[str], results: Results) -> list[WantedCall]:
    """What is to be called next, so that these files are fixed as far as ruff can. Empty: nothing more."""
    ours = [path for path in dict.fromkeys(paths) if path.endswith((".py", ".pyi")) and not path.startswith("-")]
    runs = _runs(results)
    if ours and not runs:
        argv = [*RUFF, "--", *ours[:MOST_FILES]]
        return [("execute_command", {"argv": argv, "reason": "To see what ruff would fix. It changes no file."})]
    if not runs or any(call.name == "propose_diff" for call, _ in results):
        return []
    diff = ruff_diff(runs[0][1])
    if diff is None:
        return []
    why = "The fixes that ruff makes by itself"
    return [("propose_diff", {"diff": diff, "rationale": why, "acceptance_criteria": ["ruff check says nothing more"]})]


def ruff_diff(told: str) -> str | None:
    """The diff that ruff has printed. None: there is none, or not the whole of it."""
    run = read_run_text(told)
    if run is None or _CUT in run.stdout or not run.stdout.startswith("--- "):
        return None
    diff = _SUMMARY.sub("", run.stdout)
    return f"{diff.rstrip()}\n"


# -- what came of it


def told_tests(results: Results) -> list[str]:
    """Paragraphs about the tests that were to be run."""
    runs = _runs(results)
    if runs:
        return _told_run(*runs[0], "The tests")
    names = _root(results)
    if names is None or _detected(names, results):
        return []
    return ["I found no command that runs the tests of this workspace: nothing in its root tells of one."]


def told_fixes(results: Results) -> list[str]:
    runs = _runs(results)
    if not runs:
        return []
    call, told = runs[0]
    run = read_run_text(told)
    if run is None:
        return _told_run(call, told, "ruff")
    if run.exit_code is None or run.exit_code not in (0, 1):
        return [f"ruff could not be asked. {run.ended} Is it installed?", *_output(run)]
    proposed = next((text for each, text in results if each.name == "propose_diff"), None)
    if proposed is None:
        return ["ruff was asked, and has nothing that it would fix by itself."]
    return [f"ruff has fixes for it: {_without_name(proposed)}"]


def _told_run(call: ToolCall, told: str, what: str) -> list[str]:
    run = read_run_text(told)
    if run is None:
        return [f"{what} did not run. {_without_name(told)}"]
    if run.exit_code is None:
        return [f"I ran `{run.command}`. {run.ended}", *_output(run)]
    outcome = "passed" if run.exit_code == 0 else "did not pass"
    return [f"I ran `{run.command}`. {what} {outcome}: {run.ended[:1].lower()}{run.ended[1:]}", *_output(run)]


def _output(run: RunExcerpt) -> list[str]:
    parts = []
    for stream, text in run.outputs:
        lines = text.rstrip().split("\n")
        which = "" if stream == "stdout" else " to its error output"
        cut = f" (the last {MOST_SAID} lines)" if len(lines) > MOST_SAID else ""
        shown = "\n".join(lines[-MOST_SAID:])
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", shown)), 3)
        parts.append(f"It said{which}{cut}:\n{fence}\n{shown}\n{fence}")
    return parts


def _without_name(told: str) -> str:
    """A result for people, without the tool's name before it."""
    return for_people(re.sub(r"^\w+ failed: ", "", told))


# -- what is known


def _runs(results: Results) -> list[tuple[ToolCall, str]]:
    return [(call, told) for call, told in results if call.name == "execute_command"]


def _root(results: Results) -> tuple[str, ...] | None:
    """The names in the workspace's root, if they were listed."""
    for call, told in results:
        if call.name == "list_files" and isinstance(call.arguments, dict) and not call.arguments.get("folder"):
            return read_entries_text(told)
    return None


def _detected(names: Collection[str], results: Results) -> tuple[tuple[str, ...], ...]:
    texts = dict[str, str]()
    for call, told in results:
        if call.name == "read_file" and (found := read_file_text(told)) is not None and found.first_line == 1:
            texts[found.path] = "\n".join(found.lines)
    return detected_tests(names, texts)
