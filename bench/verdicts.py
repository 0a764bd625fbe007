"""What the agent's policy costs: a verdict on a change, and on a command that nobody has seen before.

Units and goals
  - A figure is the CPU time of one verdict, the mean of a slice. It is set beside the 0.1 ms that it may take.
  - Each command has a word of its own, so each line is read anew. The commands are what an agent runs: some are
    listed, some not, some are not clear, one is blocked.
  - The policy has 50 allowed commands, 50 blocked ones and 50 blocked globs.
"""

from collections.abc import Callable, Iterator
from itertools import count, cycle
from time import process_time

from bench.harness import MICROSECONDS, SLICE, Result
from codec.agent.policy import ChangeWish, change_verdict, command_verdict
from codec.agent.workspaces import Policy

ALLOWED = 100.0
"""Microseconds."""
AT_ONCE = 50
"""Verdicts between two looks at the clock."""
POLICY = Policy(
    allowed_commands=("npm test", "git log", "pytest", "cd", *(f"tool{each} run" for each in range(46))),
    blocked_commands=("rm -rf", "curl", *(f"danger{each} --force" for each in range(48))),
    blocked_globs=("node_modules/**", *(f"secret{each}/**" for each in range(49))),
)
COMMANDS = (
    "npm test",
    "npm test -- --watch=false",
    "npm test && git log -5 2>&1 | tail -20",
    "cd packages/app && npm test",
    "timeout 60 python -m pytest tests/agent -q -x -k 'not slow'",
    "grep -rn 'def f' src | head -20",
    "sh -c 'npm test && git log'",
    "echo $(id) > x",
    "rm -fr build",
    "git log -p --stat HEAD~2 -- src/app.py",
)


def cases(name: str, rounds: int) -> Iterator[Result]:
    """`name`: of the bench in which they stand."""
    lines, numbers = cycle(COMMANDS), count()
    yield _beside(name, "a command that is new", rounds, lambda: _judge_command(f"{next(lines)} a{next(numbers)}"))
    yield _beside(name, "a command seen before", rounds, lambda: _judge_command(next(lines)))
    yield _beside(name, "a change of a file", rounds, lambda: _judge_change(f"src/part{next(numbers)}/app.py"))


def _judge_command(line: str) -> None:
    command_verdict(POLICY, "ask", (), line)


def _judge_change(path: str) -> None:
    change_verdict(POLICY, "ask", (), ChangeWish(path=path, changed_lines=3))


def _beside(name: str, case: str, rounds: int, judge: Callable[[], None]) -> Result:
    figures = [(_mean(judge), ALLOWED) for _ in range(rounds)]
    return Result.between(name, case, "allowed", figures, MICROSECONDS, goal=1.0)


def _mean(judge: Callable[[], None]) -> float:
    """Microseconds."""
    done, begun = 0, process_time()
    while (spent := process_time() - begun) < SLICE:
        for _ in range(AT_ONCE):
            judge()
        done += AT_ONCE
    return spent / done * 1e6
