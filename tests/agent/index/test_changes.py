"""What may have changed is gathered once each, up to a bound, and then as all; each update takes it whole."""

from collections.abc import Sequence

import pytest

from actors.agent.index.changes import MOST_PATHS, Changes
from codec.agent.index.telling import IndexWish


def test_paths_are_gathered_once_in_their_order_and_an_update_takes_them_all() -> None:
    changes = Changes()
    assert (bool(changes), len(changes), changes.whole, changes.quiet) == (False, 0, False, True)
    changes.told(["b", "a", "b"])
    changes.told(["c", "a"])
    assert (bool(changes), len(changes), changes.whole, changes.quiet) == (True, 3, False, True)
    assert changes.taken() == IndexWish(paths=("b", "a", "c"))
    assert (bool(changes), len(changes)) == (False, 0)
    assert changes.taken() == IndexWish(paths=())


def test_more_paths_than_the_bound_are_all_and_so_is_the_root() -> None:
    changes = Changes()
    changes.told(map(str, range(MOST_PATHS)))
    changes.told(["0"])
    assert (changes.whole, len(changes)) == (False, MOST_PATHS)
    changes.told(["one more"])
    assert (bool(changes), changes.whole, len(changes)) == (True, True, 0)
    changes.told(["and one more"])
    assert (len(changes), changes.quiet) == (0, True)
    assert changes.taken() == IndexWish(paths=None)
    assert not changes
    changes.told(["a", ""])
    assert changes.taken() == IndexWish(paths=None)


@pytest.mark.parametrize(
    ("told", "anew", "quiet"),
    [
        # each: whether it is to be read anew, and whether nobody has asked for it; then what counts for all of them
        ([(False, True)], False, True),
        ([(True, True), (False, True)], True, True),
        ([(False, True), (True, False)], True, False),
        ([(False, False), (False, True)], False, False),
    ],
)
def test_of_all_that_is_told_the_most_thorough_and_the_most_urgent_counts(
    told: Sequence[tuple[bool, bool]], anew: bool, quiet: bool
) -> None:
    changes = Changes()
    for each in told:
        changes.told_all(anew=each[0], quiet=each[1])
    assert changes.quiet is quiet
    wish = changes.taken()
    assert wish == IndexWish(paths=None, anew=anew)
    assert (changes.quiet, changes.taken()) == (True, IndexWish(paths=())), "the next update is another one"
    changes.back(wish, quiet=quiet)
    assert changes.quiet is quiet
    assert changes.taken() == wish, "what was broken off is done again"


def test_paths_of_an_update_that_was_broken_off_come_back_and_a_rebuild_is_no_less_for_them() -> None:
    changes = Changes()
    changes.told(["new"])
    changes.back(IndexWish(paths=("a", "b")), quiet=False)
    assert (changes.whole, changes.quiet) == (False, True)
    assert changes.taken() == IndexWish(paths=("new", "a", "b"))
    changes.told_all(anew=True)
    changes.back(IndexWish(paths=("a",)), quiet=False)
    assert changes.taken() == IndexWish(paths=None, anew=True)
