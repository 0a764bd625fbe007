"""Turns that change real files: the turn, the hands and the disk as they are."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codec.agent.action_events import FileChanged, PatchProposed
from codec.agent.approvals import Pending
from codec.agent.events import ToolExecute
from codec.agent.models import SaidText
from codec.agent.sessions import SessionMode
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import MemoryImages, approves, means
from tests.agent.turn_kit import STOP, Heard, Script, call, unpaired, whole
from transports.agent.tree import FolderTrees

HERE = Policy(patch_application="server")


def edit(path: str, old: str, new: str) -> dict[str, str]:
    return {"file_path": path, "old": old, "new": new}


async def done(
    root: Path,
    act: Any,
    mode: SessionMode = "auto",
    answers: Callable[[Pending], list[Pending]] = lambda request: [approves(request)],
) -> tuple[Heard, str]:
    script, heard = Script([act, STOP], [SaidText("Done."), STOP]), Heard(answers=answers)
    given: dict[str, Any] = {"hands": FolderTrees().hands(str(root)), "acting": means(MemoryImages())}
    await whole("Do it", script, {}, heard=heard, mode=mode, policy=HERE, **given)
    assert unpaired(heard.events) == []
    assert heard.requests == {}
    return heard, heard.of(ToolExecute)[-1].result["text"]


async def test_files_are_changed_made_and_deleted_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_bytes(b"#!/bin/sh\r\necho one\r\nexit 0")
    (tmp_path / "run.sh").chmod(0o750)
    (tmp_path / "old.txt").write_bytes(b"gone\n")
    diff = "\n".join(
        (
            *("--- a/run.sh", "+++ b/run.sh", "@@ -1,3 +1,3 @@", " #!/bin/sh", "-echo one", "+echo two", " exit 0"),
            *("--- /dev/null", "+++ b/new/deep.txt", "@@ -0,0 +1 @@", "+made"),
            *("--- a/old.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-gone", ""),
        )
    )
    heard, told = await done(tmp_path, call("propose_diff", diff=diff))
    assert (tmp_path / "run.sh").read_bytes() == b"#!/bin/sh\r\necho two\r\nexit 0"
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "new/deep.txt").read_bytes() == b"made\n"
    assert not (tmp_path / "old.txt").exists()
    assert heard.final.metadata.files_modified == 3
    assert "old.txt is deleted." in told
    statuses = [(event.action, event.status) for event in heard.of(FileChanged)]
    assert sorted(statuses[3:]) == [("create", "done"), ("delete", "done"), ("modify", "done")]


async def test_an_edit_of_the_user_between_proposal_and_approval_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 31)))

    def answer(request: Pending) -> list[Pending]:
        path.write_text(path.read_text().replace("line 25", "theirs"))
        return [approves(request)]

    heard, told = await done(tmp_path, call("propose_diff", edits=[edit("a.txt", "line 3\n", "ours\n")]), "ask", answer)
    assert "ours\nline 4\n" in path.read_text()
    assert "theirs\n" in path.read_text()
    assert "both changes stand in it now" in told
    assert len(heard.of(PatchProposed)) == 1


@pytest.mark.parametrize("how", ["symlink", "hard link", "fifo", "folder"])
async def test_what_is_no_plain_file_of_the_workspace_is_left_alone_and_told(tmp_path: Path, how: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside.txt"
    root.mkdir()
    outside.write_text("secret plans\n")
    match how:
        case "symlink":
            (root / "a.txt").symlink_to(outside)
        case "hard link":
            (root / "a.txt").hardlink_to(outside)
        case "fifo":
            os.mkfifo(root / "a.txt")
        case _:
            (root / "a.txt").mkdir()
    heard, told = await done(root, call("write_file", file_path="a.txt", content="ours\n"))
    assert outside.read_text() == "secret plans\n"
    assert told.startswith("write_file failed: ")
    assert "secret plans" not in repr(heard.events)
    assert heard.of(FileChanged) == []


async def test_a_large_file_is_written_whole(tmp_path: Path) -> None:
    content = "".join(f"a line with the number {number}\n" for number in range(25_000))
    _, told = await done(tmp_path, call("write_file", file_path="big.txt", content=content))
    assert (tmp_path / "big.txt").read_text() == content
    assert told.startswith("big.txt was made. It has 25,000 lines now")


async def test_the_log_says_which_folders_were_made_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    made = ["there/new/deep/a.txt", "there/new/b.txt", "there/c.txt"]
    files = [{"file_path": path, "content": "x\n"} for path in made]
    diff = "".join(f"--- /dev/null\n+++ b/{each['file_path']}\n@@ -0,0 +1 @@\n+x\n" for each in files)
    heard, _ = await done(tmp_path, call("propose_diff", diff=diff))
    told = [folder for event in heard.of(FileChanged) if event.status == "done" for folder in event.folders]
    assert sorted(told) == ["there/new", "there/new/deep"]
