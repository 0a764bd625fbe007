"""Which folders a walk looks at, and what it says of those that it leaves out."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from transports.agent.walking import TreeWalk
from transports.folder.rooted import Rooted, Within

FOLDERS = ["", "a/", "b/", "a/a/", "a/b/", "b/a/", "a/a/a/"]
"""The nearest first."""


class OddDisk(Rooted):
    """Some of its folders cannot be opened."""

    def __init__(self, root: Path, errors: Mapping[str, OSError]) -> None:
        super().__init__(root, firm=True)
        self._errors = errors

    @contextmanager
    def folder(self, names: Sequence[str], *, create: bool = False, within: Within | None = None) -> Iterator[int]:
        error = self._errors.get("".join(f"{name}/" for name in names))
        if error is not None:
            raise error
        with super().folder(names, create=create, within=within) as here:
            yield here


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(exist_ok=True)
        for name in ("x", "y"):
            (tmp_path / folder / name).touch()
    return tmp_path


def never() -> bool:
    return False


def walked(walk: TreeWalk) -> list[str]:
    return [above for above, _, files in walk.folders() if [each.name for each in files] == ["x", "y"]]


@pytest.mark.parametrize("most", range(len(FOLDERS) + 2))
def test_a_walk_looks_at_as_many_folders_as_it_may_and_says_whether_there_are_more(root: Path, most: int) -> None:
    walk = TreeWalk(Rooted(root, firm=True), (), never, most=most)
    assert walked(walk) == FOLDERS[:most]
    assert walk.cut == (most < len(FOLDERS))
    assert walk.unreadable == []


def test_a_walk_that_is_late_at_any_moment_ends_there_and_says_so(root: Path) -> None:
    questions = 0

    def late_from(number: int) -> list[str]:
        nonlocal questions
        questions = 0

        def late() -> bool:
            nonlocal questions
            questions += 1
            return questions > number

        walk = TreeWalk(Rooted(root, firm=True), (), late)
        found = [f"{above}{each.name}" for above, _, files in walk.folders() for each in files]
        assert walk.cut == (questions > number)
        return found

    every = late_from(1_000_000)
    assert len(every) == 2 * len(FOLDERS)
    founds = [late_from(number) for number in range(questions + 1)]
    assert all({*found} <= {*more} for found, more in pairwise(founds))
    assert (founds[0], founds[-1]) == ([], every)


@pytest.mark.parametrize("error", [FileNotFoundError("x"), PermissionError("x"), OSError("x")], ids=repr)
def test_a_folder_that_cannot_be_opened_is_left_out_but_the_one_that_was_asked_for_is_an_error(
    root: Path, error: OSError
) -> None:
    walk = TreeWalk(OddDisk(root, {"a/": error}), (), never, rules=())
    assert walked(walk) == ["", "b/", "b/a/"]
    assert walk.unreadable == ([] if isinstance(error, FileNotFoundError) else ["a/"]), "it may just have gone"
    assert not walk.cut
    for folder, names in (("", ()), ("a/", ("a",))):
        walk = TreeWalk(OddDisk(root, {folder: error}), names, never, rules=())
        with pytest.raises(type(error)):
            walked(walk)
