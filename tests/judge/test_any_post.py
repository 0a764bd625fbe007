"""Every answered post gets its complete folder, and no actor restarts, whatever is posted, in whatever order, and
whenever the server ends."""

import json
import tempfile
from functools import partial
from pathlib import Path

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.judge.posts import PREFIX
from actors.kernel.testing import run_schedule
from actors.store import STORE, StateDirectory, StoreClient
from codec.judge import BadTask, Task, read_task
from tests.judge.kit import FULL, Court, Folders
from tests.judge.kit import judging as judge
from tests.judge.payloads import posted
from tests.plenty import plenty

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
cases = st.lists(st.fixed_dictionaries({"input": st.sampled_from("abc"), "output": st.sampled_from("xy")}), max_size=4)
urls = st.sampled_from(["https://a.b/c", "https://a.b/C", "https://x.y/c"])
known = st.fixed_dictionaries({"url": urls, "tests": cases})
odd = st.dictionaries(st.sampled_from(sorted(posted())), anything, max_size=3)
changed = st.one_of(known, known, odd)
bodies = changed.map(lambda changes: json.dumps(posted(**changes)).encode()) | st.binary(max_size=9)
Lives = list[list[bytes]]


@pytest.mark.slow
@settings(max_examples=plenty(10), deadline=None)
@given(st.lists(st.lists(bodies, max_size=8), min_size=1, max_size=3), st.integers(0, 1 << 30), st.booleans())
@example([[json.dumps(posted(url="https://a.b/[")).encode()]], 0, False)
def test_any_post_that_is_answered_finds_its_folder_and_nobody_restarts(lives: Lives, seed: int, full: bool) -> None:
    with tempfile.TemporaryDirectory() as place, StateDirectory.claim(Path(place, "state")) as directory:
        run_schedule(seed, partial(live, directory, lives, full))


async def live(directory: StateDirectory, lives: Lives, full: bool) -> None:
    files: dict[tuple[str, ...], bytes] = {}
    answered: list[Task] = []
    for bodies in lives:
        trouble = Folders(files, trouble=lambda call, task: FULL if full and call == "add" else None)
        async with judge(directory, trouble) as court:
            async with trio.open_nursery() as nursery:
                for body in bodies:
                    nursery.start_soon(post, court, body, answered)
            nobody_has_restarted(court)
    async with judge(directory, Folders(files)) as court:
        await trio.sleep(600)
        assert await StoreClient(court.house.stage.registry.get(STORE)).streams(PREFIX) == []
        nobody_has_restarted(court)
    texts = {(path[:2], path[3]): content for path, content in files.items() if len(path) == 4}
    folders = {path[:2] for path in files}
    assert folders == {path[:2] for path in files if path[2:] == ("main.py",)}
    pairs = {
        (folder, content, texts[folder, name.replace(".in", ".out")])
        for (folder, name), content in texts.items()
        if name.endswith(".in")
    }
    assert len(texts) == 2 * len(pairs), "half a case, or one twice"
    for task in answered:
        for sample in task.tests:
            assert any(pair[1:] == (sample.input.encode(), sample.output.encode()) for pair in pairs)


async def post(court: Court, body: bytes, answered: list[Task]) -> None:
    try:
        await court.desk.receive(body)
    except BadTask:
        return
    answered.append(read_task(body))


def nobody_has_restarted(court: Court) -> None:
    several = [court[name] for name in ("store", "shelf", "problems", "intake", "panels")]
    for each in [*several, *court["problems"].children()]:
        statistics = each.statistics()
        assert statistics.restarts == 0, f"{statistics.path}: {statistics.error}"
