"""A request as a text: for clients that have no card of their own for it, such as a dialog with two buttons.

It says all that will happen, so nobody approves anything that is not written there. Characters that do not print are
written as escapes.
"""

from collections.abc import Sequence

from codec.agent.action_events import Risk, ScriptLine
from codec.printable import printable
from codec.words import sentences


def command_question(
    command: str, folder: str, *, risk: Risk, network: bool, reason: str, runs: Sequence[ScriptLine] = ()
) -> str:
    """`runs`: what files say that it runs."""
    lines = "\n".join(f"    {printable(line)}" for line in command.split("\n"))
    reaches = "It can reach the network" if network else "It cannot reach the network"
    what = f"The agent asks to run a command ({risk} risk):\n\n{lines}\n\n"
    what += "".join(f"It runs ({_flat(each.file)}, {_flat(each.name)}): {_flat(each.text)}\n" for each in runs)
    what += "\n" if runs else ""
    return f"{what}In {printable(folder)}. {sentences(reaches, _flat(reason))}"


def deletion_question(path: str, *, risk: Risk, reason: str, why: str) -> str:
    """`reason`: the agent's own; `why`: why it is asked."""
    return f"The agent asks to delete {printable(path)} ({risk} risk). {sentences(_flat(reason), _flat(why))}".strip()


def _flat(text: str) -> str:
    return printable(" ".join(text.split()))
