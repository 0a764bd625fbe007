"""What a worker does before its first test, so that all of them together take less time.

Each worker imports all tests, and whoever comes first to a file also compiles it, with the asserts of pytest, which
takes far longer than to load what another has compiled. So each begins with another share of the files.

Modules and collected tests stay until the end. They need not be searched for garbage again and again, nor need a test
that makes thousands of short-lived objects wait for a search after every seven hundred (as in program/collector.py; it
takes a tenth of the tests' own CPU time).

httpx 0.28 reads certifi's whole list of authorities for every client that is not told whom to trust, also if it never
speaks TLS: 30 ms of CPU time for each `httpx.get`, and a test that looks again and again until something is so takes
hundreds. So the list is read once (`trust_once`).
"""

import contextlib
import functools
import gc
import os
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from program.collector import NEW_OBJECTS

TESTS = Path(__file__).parent


def trust_once() -> None:
    from httpx._transports import default

    made: Any = default.create_ssl_context  # type: ignore[attr-defined]

    @functools.cache
    def usual(trust_env: bool, *_: str | None) -> Any:
        return made(True, None, trust_env)

    def trust(verify: object = True, cert: object = None, trust_env: bool = True) -> Any:
        if verify is not True or cert is not None:
            return made(verify, cert, trust_env)
        return usual(trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    default.create_ssl_context = trust  # type: ignore[attr-defined]


def pytest_configure() -> None:
    trust_once()


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return  # alone, or with some of the tests only
    gc.disable()
    files = sorted(TESTS.rglob("test_*.py"))
    first = int(worker["workerid"].removeprefix("gw")) * len(files) // worker["workercount"]
    for file in (*files[first:], *files[:first]):
        with contextlib.suppress(Exception):  # the collection comes to it again, and tells
            import_module(".".join(file.relative_to(TESTS.parent).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(NEW_OBJECTS, 10, 10)
