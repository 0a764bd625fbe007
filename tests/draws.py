"""Which cases of a long table the gate tries: a few of them, and others with each tree.

A marker says how many: `@pytest.mark.drawn(6)`. It is for tables whose cases are alike and dear, each a page with
Pyodide or a process with its own end, so that a mistake is found by most of them, or within a few trees. Tests that
have `of="a name"` in common are one table: `@pytest.mark.drawn(4, of="the sampler's trials")`.

A run of all tests draws, by pytest-randomly's seed, which the gate derives from the tree. Who names a folder, a file
or a test means all of it: `pytest tests` leaves out nothing. `TROUPE_PLENTY=2` draws twice as many (`plenty.py`). Each
case has the same chance whatever else stands in its table, so a new case moves no other out of its turn.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from hashlib import blake2b

import pytest

from tests.plenty import plenty


def kept(tables: Mapping[str, Iterable[str]], most: Mapping[str, int], seed: object) -> set[str]:
    """Of each table so many cases."""

    def turn(case: str) -> bytes:
        return blake2b(f"{seed} {case}".encode(), digest_size=8).digest()

    return {case for table, cases in tables.items() for case in sorted(cases, key=turn)[: most[table]]}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("randomly_seed", None)
    if seed is None or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    tables: dict[str, list[str]] = defaultdict(list)
    most: dict[str, int] = {}
    for item in items:
        if (drawn := item.get_closest_marker("drawn")) is not None:
            table = str(drawn.kwargs.get("of") or item.nodeid.partition("[")[0])
            tables[table].append(item.nodeid)
            most[table] = plenty(*drawn.args)
    chosen = kept(tables, most, seed)
    items[:] = [item for item in items if item.get_closest_marker("drawn") is None or item.nodeid in chosen]
