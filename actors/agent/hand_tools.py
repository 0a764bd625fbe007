"""The tools with hands: what a model may call to change files and to run commands.

They stand beside the tools that only read (tools.py), with the same schemas and checks. acting.py executes them: what
the policy says of each call, what the user answers, and what is done then. A turn that has no hands is not offered
these tools, nor is a turn in mode plan.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from actors.agent.tools import SPECS, Path, Tool
from codec.agent.action_events import DELETES
from codec.agent.models import ToolSpec
from codec.agent.sessions import SessionMode

LONGEST_CONTENT = 1_000_000
"""Characters of a file, or of a diff."""
LONGEST_COMMAND = 10_000
LONGEST_TIMEOUT = 1_800

Content = Annotated[str, Meta(max_length=LONGEST_CONTENT)]
Why = Annotated[str, Meta(max_length=5_000, description="Why, in a sentence for the user")]
Criteria = Annotated[
    tuple[Annotated[str, Meta(max_length=1_000)], ...],
    Meta(max_length=20, description="How the user can tell that it is right"),
]
Word = Annotated[str, Meta(max_length=LONGEST_COMMAND)]


class TextEdit(Struct, frozen=True):
    file_path: Path
    old: Annotated[Content, Meta(description="The text that stands there now, once; empty: the file is new")]
    new: Annotated[Content, Meta(description="The text that takes its place")]


class ProposeDiff(Struct, frozen=True):
    diff: Annotated[Content, Meta(description="A unified diff as git writes it, of one or several files")] = ""
    edits: Annotated[
        tuple[TextEdit, ...], Meta(max_length=200, description="In place of a diff: texts to be replaced")
    ] = ()
    rationale: Why = ""
    acceptance_criteria: Criteria = ()


class WriteFile(Struct, frozen=True):
    file_path: Path
    content: Annotated[Content, Meta(description="The whole file as it shall be")]
    rationale: Why = ""


class DeleteFile(Struct, frozen=True):
    file_path: Path
    reason: Why = ""


class ExecuteCommand(Struct, frozen=True):
    command: Annotated[Word, Meta(description="A command line")] = ""
    argv: Annotated[
        tuple[Word, ...], Meta(max_length=500, description="In place of a line: the program and its arguments")
    ] = ()
    folder: Annotated[str, Meta(max_length=2_000, description="Where, from the workspace's root; empty: there")] = ""
    reason: Why = ""
    timeout: Annotated[int, Meta(ge=1, le=LONGEST_TIMEOUT, description="In seconds")] = 120


HAND_TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "propose_diff",
            "Change files: by a unified diff with a few lines of context, or by `edits` that each replace a text that "
            "stands in the file once. Read a file before you change it. The user may have to agree, to some of it or "
            "to all; you are told what was done.",
            ProposeDiff,
        ),
        Tool(
            "write_file",
            "Write a whole file, new or in place of the old one. To change a part of a file use propose_diff.",
            WriteFile,
        ),
        Tool(DELETES, "Delete a file.", DeleteFile),
        Tool(
            "execute_command",
            "Run a command, such as the tests, and get its output. One simple command is allowed more easily than a "
            "line of several. Nobody can type while it runs.",
            ExecuteCommand,
        ),
    )
}
HAND_SPECS = tuple(tool.spec for tool in HAND_TOOLS.values())


def offered(mode: SessionMode, *, has_hands: bool) -> tuple[ToolSpec, ...]:
    """What a model may call in this mode."""
    return SPECS + HAND_SPECS if has_hands and mode != "plan" else SPECS
