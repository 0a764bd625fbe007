"""The changes of the list of problems, from what was told to what is now. Pure.

A long list is told as a whole once, and then by its changes: a burst of posts would otherwise cost every page the whole
list some times a second. Problems leave the list at any place, change where they are, and come at its end; one that is
posted again moves there. So what a page is told is short, and two rules make its list ours:

  - first, the problems of `gone` leave;
  - then, each of `problems` takes the place of the one with its id or, if there is none, comes to the end.

A page that comes is told the whole list. Before that, the others are told what has changed since the last time, so that
the next changes are changes of the same list for all.
"""

from collections.abc import Mapping

from codec.judge import Listed


def changes(before: Mapping[str, Listed], now: Mapping[str, Listed]) -> tuple[tuple[str, ...], tuple[Listed, ...]]:
    """`gone` and `problems`, by which a page that knows `before` knows `now`. Both are by id, in order."""
    staying = _staying(before, now)
    gone = tuple(id for id in before if id not in staying)  # noqa: A001 - as on the wire
    problems = tuple(
        problem
        for id, problem in now.items()  # noqa: A001
        if id not in staying or (problem is not before[id] and problem != before[id])
    )
    return gone, problems


def _staying(before: Mapping[str, Listed], now: Mapping[str, Listed]) -> set[str]:
    """The problems at the beginning of `now` that come in the same order in `before`."""
    staying, rest = set[str](), iter(before)
    for id in now:  # noqa: A001
        if id not in before or id not in rest:  # which takes all up to it
            break
        staying.add(id)
    return staying
