"""What undoing a turn restores, decided from events and files: tables."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest

from actors.agent.given import FileImage, FileRefused
from actors.agent.undo_plans import (
    FileState,
    TouchedFile,
    chosen_turn,
    empty_folders,
    later_turns,
    step,
    summary,
    touched,
    undone_after,
)
from codec.agent.action_events import FileChanged, TurnUndone, UndoneFile

OLD, NEW, OTHER = (FileImage("a.py", data, 0o644) for data in (b"old\n", b"new\n", b"other\n"))
IMAGES = {"old": OLD, "new": NEW, "other": OTHER}


def state(name: str | None, *, blob: bool = True) -> FileState:
    return FileState(None) if name is None else FileState(IMAGES[name].digest, f"blob {name}" if blob else None, 0o644)


def changed(
    change_id: str, before: str | None, after: str | None, status: str = "done", path: str = "a.py", **more: Any
) -> FileChanged:
    one, other = state(before), state(after)
    return FileChanged(
        change_id=change_id,
        turn_id=more.pop("turn_id", "t"),
        file_path=path,
        action="modify",
        status=status,  # type: ignore[arg-type]
        before=one.blob,
        after=other.blob,
        before_hash=one.digest,
        after_hash=other.digest,
        mode=0o644 if before or after else None,
        **more,
    )


@pytest.mark.parametrize(
    ("events", "first", "lasts", "broken"),
    [
        ([changed("1", "old", "new")], "old", ["new"], False),
        ([changed("1", "old", "new", "begun")], "old", ["new", "old"], False),
        ([changed("1", "old", "new", "begun"), changed("1", "old", "new")], "old", ["new"], False),
        ([changed("1", "old", "new"), changed("1", "old", "new", "begun")], "old", ["new"], False),
        ([changed("1", "old", "new"), changed("2", "new", "other")], "old", ["other"], False),
        ([changed("1", "old", "new"), changed("2", "other", "new")], "old", ["new"], True),
        ([changed("1", "old", "new"), changed("2", "other", "new"), changed("3", "new", "old")], "old", ["old"], True),
        ([changed("1", "old", "new", "begun"), changed("2", "old", "other")], "old", ["other"], False),
        ([changed("1", None, "new"), changed("2", "new", None)], None, [None], False),
        ([changed("1", "old", "new"), changed("2", "new", "other", "failed")], "old", ["new"], False),
    ],
)
def test_a_turns_part_in_a_file_is_from_its_first_image_to_its_last(
    events: Sequence[FileChanged], first: str | None, lasts: list[str | None], broken: bool
) -> None:
    file = touched(events)["t"]["a.py"]
    assert file.first.digest == state(first).digest
    assert [each.digest for each in file.lasts] == [state(each).digest for each in lasts]
    assert file.broken is broken
    assert file.is_changed is (first != lasts[0])


def test_what_has_failed_is_no_change_and_turns_stand_in_their_order() -> None:
    turns = touched(
        [
            changed("1", "old", "new", turn_id="b"),
            changed("2", "old", "new", path="b.py", turn_id="a"),
            changed("3", "new", "other", "begun", turn_id="c"),
            changed("3", "new", "other", "failed", turn_id="c"),
            changed("4", "new", "old", turn_id="b"),
        ]
    )
    assert {turn: [*files] for turn, files in turns.items()} == {"b": ["a.py"], "a": ["b.py"]}
    assert [*turns] == ["b", "a"]


def test_the_folders_of_all_changes_of_a_file_may_be_empty_when_it_is_deleted() -> None:
    files = touched(
        [
            changed("1", None, "new", path="x/y/a", folders=("x", "x/y")),
            changed("2", "new", "old", path="x/y/a", folders=("x/z",)),
            changed("3", None, "new", path="q/a", folders=("q",)),
            changed("4", None, "new", path="xx/a", folders=("xx",)),
        ]
    )["t"]
    assert empty_folders(files, {"x/y/a"}) == ["x", "x/y"]
    assert empty_folders(files, {"x/y/a", "x/z/b", "q/a"}) == ["q", "x", "x/y", "x/z"]
    assert empty_folders(files, ()) == []
    assert empty_folders(files, {"q"}) == []


REFUSED = FileRefused("The disk does not answer.")
SINCE, GONE = "It has been changed since.", "It has been deleted since."
MID = "Somebody else has changed it while the turn was changing it, and that would be lost."


@pytest.mark.parametrize(
    ("first", "last", "now", "undo", "redo"),
    [
        # what the turn made of what, the file as it is; undoing, and doing it again: action, outcome, reason
        ("old", "new", "new", ("restore", "would", ""), ("restore", "unchanged", "It is so already.")),
        ("old", "new", "old", ("restore", "unchanged", "It is so already."), ("restore", "would", "")),
        ("old", "new", "other", ("restore", "refused", SINCE), ("restore", "refused", SINCE)),
        ("old", "new", None, ("restore", "refused", GONE), ("restore", "refused", GONE)),
        (None, "new", "new", ("delete", "would", ""), ("create", "unchanged", "It is so already.")),
        (None, "new", None, ("delete", "unchanged", "It is so already."), ("create", "would", "")),
        (None, "new", "other", ("delete", "refused", SINCE), ("create", "refused", SINCE)),
        ("old", None, None, ("create", "would", ""), ("delete", "unchanged", "It is so already.")),
        ("old", None, "old", ("create", "unchanged", "It is so already."), ("delete", "would", "")),
        ("old", None, "other", ("create", "refused", SINCE), ("delete", "refused", SINCE)),
    ],
)
def test_a_file_is_put_back_unless_it_is_neither_as_before_nor_as_after(
    first: str | None, last: str | None, now: str | None, undo: tuple[str, ...], redo: tuple[str, ...]
) -> None:
    file = TouchedFile("a.py", state(first), (state(last),))
    current = None if now is None else IMAGES[now]
    for is_redo, wanted in ((False, undo), (True, redo)):
        found = step(file, current, redo=is_redo, later=False)
        assert (found.action, found.outcome, found.reason) == wanted
        told = found.told()
        assert (told.file_path, told.action, told.outcome, told.reason) == ("a.py", *wanted)
        if found.outcome == "would":
            assert found.before == (None if current is None else current.digest)
            assert found.target == state(last if is_redo else first)
        if found.outcome == "refused":
            other = step(file, current, redo=is_redo, later=True)
            assert other.reason == "A later turn has changed it, too. Undo that turn first."


def test_what_stands_in_the_way_of_putting_a_file_back_is_told() -> None:
    def refusal(file: TouchedFile, current: FileImage | FileRefused | None = NEW) -> tuple[str, str]:
        found = step(file, current, redo=False, later=False)
        return found.outcome, found.reason

    file = TouchedFile("a.py", state("old"), (state("new"),))
    assert refusal(file, REFUSED) == ("refused", "The disk does not answer.")
    assert refusal(TouchedFile("a.py", state("old"), (state("new"),), broken=True)) == ("refused", MID)
    assert refusal(TouchedFile("a.py", state("old"), (state("new"),), broken=True), OLD)[0] == "unchanged"
    lost = TouchedFile("a.py", state("old", blob=False), (state("new"),))
    assert refusal(lost) == ("refused", "What it held then is not kept.")
    assert refusal(lost, OLD)[0] == "unchanged"


def test_a_change_that_only_began_is_undone_from_either_state() -> None:
    file = TouchedFile("a.py", state(None), (state("new"), state("old")))
    for current in (NEW, OLD):
        assert step(file, current, redo=False, later=False).outcome == "would"
    file = TouchedFile("a.py", state("old"), (state("new"), state(None)))
    found = step(file, None, redo=False, later=False)
    assert (found.action, found.outcome) == ("create", "would")


def turns(*names: str) -> dict[str, dict[str, TouchedFile]]:
    return {name: {f"{name}.py": TouchedFile(f"{name}.py", state("old"), (state("new"),))} for name in names}


@pytest.mark.parametrize(
    ("undone", "wanted", "redo", "chosen"),
    [
        ([], None, False, "c"),
        (["c"], None, False, "b"),
        (["b"], None, False, "c"),
        (["c", "b", "a"], None, False, None),
        ([], None, True, None),
        (["c", "b"], None, True, "b"),
        (["b", "c"], None, True, "c"),
        (["a", "gone"], None, True, "a"),
        ([], "a", False, "a"),
        ([], "a", True, "a"),
        ([], "gone", False, None),
        (["gone"], "gone", True, None),
    ],
)
def test_the_last_turn_that_is_not_undone_is_undone_unless_one_is_named(
    undone: list[str], wanted: str | None, redo: bool, chosen: str | None
) -> None:
    assert chosen_turn(turns("a", "b", "c"), undone, wanted, redo) == chosen


def test_later_turns_are_those_behind_that_stand_and_have_changed_something() -> None:
    known = turns("a", "b", "c")
    known["b"]["idle.py"] = TouchedFile("idle.py", state("old"), (state("old"),))
    assert later_turns(known, "a", ()) == {"b.py", "c.py"}
    assert later_turns(known, "a", ("b",)) == {"c.py"}
    assert later_turns(known, "b", ()) == {"c.py"}
    assert later_turns(known, "c", ()) == set()


@pytest.mark.parametrize(
    ("redo", "begun", "after"),
    [(False, False, ("a", "b")), (True, False, ("b",)), (False, True, ("b", "a")), (True, True, ("b", "a"))],
)
def test_an_undone_turn_is_the_last_of_its_list_and_one_done_again_is_off_it(
    redo: bool, begun: bool, after: tuple[str, ...]
) -> None:
    event = TurnUndone(turn_id="b" if not redo else "a", redo=redo, begun=begun, by="ann")
    assert undone_after(("b", "a"), event) == after


Outcome = Literal["would", "done", "refused", "unchanged"]


@pytest.mark.parametrize(
    ("outcomes", "redo", "preview", "said"),
    [
        ([], False, False, "The turn has changed no file."),
        (["done"], False, False, "1 file is again as before the turn."),
        (["done", "done"], False, False, "2 files are again as before the turn."),
        (["would"], False, True, "1 file would be again as before the turn."),
        (["done"], True, False, "1 file is again as the turn left it."),
        (["would", "would"], True, True, "2 files would be again as the turn left them."),
        (["unchanged"], False, False, "1 file is so already."),
        (["unchanged", "unchanged", "refused"], False, False,
         "2 files are so already. 1 file is left alone, each for its reason."),
        (["done", "refused", "refused"], False, False,
         "1 file is again as before the turn. 2 files are left alone, each for its reason."),
    ],
)  # fmt: skip
def test_the_report_says_in_a_sentence_or_two_what_became_of_the_files(
    outcomes: list[Outcome], redo: bool, preview: bool, said: str
) -> None:
    files = [UndoneFile(file_path="a", action="restore", outcome=each) for each in outcomes]
    assert summary(files, 0, redo=redo, preview=preview) == said
