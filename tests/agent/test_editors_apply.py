"""Patches that an editor applies, while the user goes on writing in the same file: an undo takes back what the patch
did, and nothing that the user has written, or it is refused."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.agent.given import FileImage
from actors.agent.undo_plans import FileStep, step, touched
from codec.agent.action_events import FileChanged
from codec.agent.approvals import Pending
from codec.agent.workspaces import Policy
from tests.agent.hands_kit import has_done
from tests.agent.test_acting import Scene
from tests.agent.turn_kit import call

LINES = [f"line {number} is here" for number in range(1, 41)]
PATH = "a.txt"


def text(patched: set[int], users: set[int]) -> str:
    """The user comes after the patch, wherever both have changed a line."""
    made = []
    for number, line in enumerate(LINES):
        line = f"patched {number}" if number in patched else line
        made.append(f"{line}, says the user {number}" if number in users else line)
    return "".join(f"{line}\n" for line in made)


def undo_after(patched: set[int], users: set[int], *, saved: bool = True) -> tuple[FileStep | None, dict[str, bytes]]:
    """What an undo would do when an editor has applied a patch of these lines, to a file in which the user has changed
    those. Not saved: the file has what the user has written, and not the patch."""
    edits = [
        {"file_path": PATH, "old": f"{LINES[number]}\n", "new": f"patched {number}\n"} for number in sorted(patched)
    ]
    scene = Scene(
        call("propose_diff", edits=edits), files={PATH: text(set(), set())}, policy=Policy(patch_application="client")
    )
    scene.heard.capabilities = ["patch_apply"]

    def answer(request: Pending) -> list[Pending]:
        scene.tree.files[PATH] = text(patched if saved else set(), users)
        return [has_done(request)]

    scene.heard.answers = answer
    turns = touched(scene.run().of(FileChanged))
    if not turns:
        assert "not saved it yet" in scene.result
        return None, scene.images.blobs
    (files,) = turns.values()
    data = scene.tree.files[PATH].encode()
    return step(files[PATH], FileImage(PATH, data, 0o644), redo=False, later=False), scene.images.blobs


numbers = st.integers(0, len(LINES) - 1)


@pytest.mark.slow
@settings(deadline=None)
@given(st.sets(numbers, min_size=1, max_size=4), st.sets(numbers, max_size=4))
@example({4}, {29})
@example({4}, {4})
@example({4}, {5})
def test_an_undo_takes_the_patch_back_and_leaves_what_the_user_has_written(patched: set[int], users: set[int]) -> None:
    undone, blobs = undo_after(patched, users)
    assert undone is not None
    if undone.outcome == "would":
        assert undone.target.blob is not None
        assert blobs[undone.target.blob].decode() == text(set(), users)
    else:
        assert (undone.outcome, undone.reason) == ("refused", "It has been changed since.")
        assert any(abs(one - other) <= 1 for one in patched for other in users)


@pytest.mark.slow
@settings(deadline=None)
@given(st.sets(numbers, min_size=1, max_size=4), st.sets(numbers, max_size=4))
@example({4}, set())
@example({4}, {29})
def test_a_patch_that_is_not_saved_yet_is_no_change_that_could_be_undone(patched: set[int], users: set[int]) -> None:
    undone, _ = undo_after(patched, users, saved=False)
    if undone is not None:
        assert undone.outcome == "refused"
        assert any(abs(one - other) <= 1 for one in patched for other in users)
