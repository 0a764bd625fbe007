"""Workspaces are registered once, told truly, and what is allowed in them is on the disk before it is answered."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.agent.given import FileRefused, Hands, Tree
from actors.agent.messages import (
    WORKSPACES,
    ChangePolicy,
    PolicyAsked,
    RegisterWorkspace,
    WorkspaceAsked,
    WorkspacesAsked,
)
from actors.agent.workspaces import (
    CLOSED,
    FACTS,
    LOOK_SECONDS,
    MOST_LOOKS,
    POLICIES,
    REGISTER_SECONDS,
    workspaces_spec,
)
from actors.kernel import ActorRef, ChildSpec, Restart
from actors.kernel.testing import House, run_in_virtual_time, staged
from actors.store import STORE, Inline, StateDirectory, Store, StoreClient
from codec.agent.audit import PolicyAudited
from codec.agent.refusing import ContractRefusal
from codec.agent.workspaces import Policy, PolicyChange, WorkspaceFact, WorkspaceWish
from tests.plenty import plenty

EPOCH = 1_800_000_000.0
PATIENCE = 60.0


class PaperTrees:
    """Folders by their paths, with what they really are."""

    def __init__(self, **folders: str) -> None:
        self.real = {f"/{name}": path for name, path in folders.items()}
        self.hangs: set[str] = set()
        self.checked: list[str] = []

    def tree(self, path: str) -> Tree:
        raise NotImplementedError

    def hands(self, path: str) -> Hands:
        raise NotImplementedError

    async def check(self, path: str) -> str:
        self.checked.append(path)
        if path in self.hangs:
            await trio.sleep_forever()
        await trio.lowlevel.checkpoint()
        if path not in self.real:
            raise FileRefused(f"There is no folder {path}.")
        return self.real[path]


class Desk:
    """Asks as the port does."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.store = StoreClient(house.stage.registry.get(STORE))

    @property
    def ref(self) -> ActorRef[Any]:
        return self.house.stage.registry.get(WORKSPACES)

    async def ask(self, question: Callable[..., Any]) -> Any:
        return await self.ref.ask(question, timeout=PATIENCE)

    async def register(self, path: str, name: str | None = None) -> WorkspaceFact:
        wish = WorkspaceWish(path=path, name=name)
        fact: WorkspaceFact = await self.ask(partial(RegisterWorkspace, wish))
        return fact

    async def listed(self) -> list[WorkspaceFact]:
        return list(await self.ask(WorkspacesAsked))

    async def change(self, id: str, **change: Any) -> Any:  # noqa: A002
        return await self.ask(partial(ChangePolicy, id, PolicyChange(**change), "test"))

    async def audited(self, id: str) -> list[PolicyAudited]:  # noqa: A002
        entries = await self.store.read(f"agent/audit/{id}")
        return [msgspec.json.decode(entry, type=PolicyAudited) for _, entry in entries]


@asynccontextmanager
async def desk(
    place: Path, trees: PaperTrees, prepare: Callable[[StoreClient], Any] | None = None
) -> AsyncIterator[Desk]:
    with StateDirectory.claim(place) as directory:
        if prepare is not None:
            async with staged(ChildSpec("store", partial(Store, directory, Inline))) as house:
                await prepare(StoreClient(house.stage.registry.get(STORE)))
        specs = ChildSpec("store", partial(Store, directory, Inline)), workspaces_spec(trees, wall)
        async with staged(*specs) as house:
            yield Desk(house)


def wall() -> float:
    return EPOCH + trio.current_time()


async def test_the_same_folder_is_the_same_workspace_also_through_a_link_and_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    trees = PaperTrees(a="/a", link="/a", b="/b")
    async with desk(tmp_path, trees) as asked:
        first = await asked.register("/a", "name")
        assert (first.path, first.name, first.missing) == ("/a", "name", False)
        assert first.created_at.endswith("Z")
        assert await asked.register("/link", "another") == first
        second = await asked.register("/b")
        assert (second.name, second.id != first.id) == ("b", True)
    async with desk(tmp_path, trees) as asked:
        assert await asked.listed() == [second, first]
        assert await asked.register("/a") == first
        assert await asked.ask(partial(WorkspaceAsked, first.id)) == first


async def test_two_that_register_the_same_at_once_get_the_same(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with desk(tmp_path, PaperTrees(a="/a", link="/a")) as asked:
        got: list[WorkspaceFact] = []

        async def register(path: str) -> None:
            got.append(await asked.register(path))

        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(register, "/a")
                nursery.start_soon(register, "/link")
        assert len({fact.id for fact in got}) == 1
        assert len(await asked.listed()) == 1


async def test_a_folder_that_cannot_be_used_is_refused_in_words_and_nothing_is_kept(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with desk(tmp_path, PaperTrees()) as asked:
        with pytest.raises(FileRefused, match=r"There is no folder /none\."):
            await asked.register("/none")
        assert await asked.listed() == []
        assert await asked.ask(partial(WorkspaceAsked, "none")) is None
        assert await asked.ask(partial(PolicyAsked, "none")) is None
        assert await asked.change("none", network_enabled=True) is None
        assert await asked.store.streams("agent/") == []


async def test_a_disk_that_hangs_is_told_in_time_and_holds_up_nobody_else(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    trees = PaperTrees(a="/a", b="/b")
    trees.hangs.add("/b")
    async with desk(tmp_path, trees) as asked:
        async with trio.open_nursery() as nursery:

            async def hangs() -> None:
                with pytest.raises(FileRefused, match="does not answer"):
                    await asked.register("/b")
                assert trio.current_time() >= REGISTER_SECONDS

            for _ in range(MOST_LOOKS - 1):
                nursery.start_soon(hangs)
            await wait_all_tasks_blocked()
            before = trio.current_time()
            fact = await asked.register("/a")
            assert trio.current_time() == before
            nursery.start_soon(hangs)
            await wait_all_tasks_blocked()
            with pytest.raises(FileRefused, match="Too many folders"):
                await asked.register("/a")
        assert await asked.register("/a") == fact


async def test_whether_the_folder_is_missing_is_true_when_it_is_asked(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    trees = PaperTrees(a="/a", b="/b")
    async with desk(tmp_path, trees) as asked:
        a, b = await asked.register("/a"), await asked.register("/b")
        del trees.real["/a"]
        assert [fact.missing for fact in await asked.listed()] == [False, True]
        assert (await asked.ask(partial(WorkspaceAsked, a.id))).missing
        trees.real |= {"/a": "/a", "/b": "/somewhere"}
        assert [fact.missing for fact in await asked.listed()] == [True, False], "a link stands in its place"
        trees.real["/b"] = "/b"
        trees.hangs.add("/a")
        before = trio.current_time()
        assert [fact.missing for fact in await asked.listed()] == [False, False], "what was seen last counts"
        assert trio.current_time() - before == pytest.approx(LOOK_SECONDS)
        trees.hangs.clear()
        del trees.real["/b"]
        assert (await asked.ask(partial(WorkspaceAsked, b.id))).missing
        trees.real["/b"] = "/b"
        assert not (await asked.register("/b")).missing


async def test_a_change_of_the_policy_is_on_the_disk_with_its_entry_before_it_is_answered(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    trees = PaperTrees(a="/a")
    async with desk(tmp_path, trees) as asked:
        id = (await asked.register("/a")).id  # noqa: A001
        assert await asked.ask(partial(PolicyAsked, id)) == Policy()
        changed = await asked.change(id, allowed_commands=("pytest",), network_enabled=True)
        assert changed == Policy(allowed_commands=("pytest",), network_enabled=True)
        assert await asked.change(id) == changed, "nothing changes, so nothing is noted"
        again = await asked.change(id, network_enabled=False)
        (first, second) = await asked.audited(id)
        assert (first.by, first.before) == ("test", Policy())
        assert (second.before, second.change) == (changed, PolicyChange(network_enabled=False))
    async with desk(tmp_path, trees) as asked:
        assert await asked.ask(partial(PolicyAsked, id)) == again
        assert len(await asked.audited(id)) == 2


async def test_a_policy_that_is_too_large_is_refused_in_words_and_the_old_one_stays(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with desk(tmp_path, PaperTrees(a="/a")) as asked:
        id = (await asked.register("/a")).id  # noqa: A001
        with pytest.raises(ContractRefusal, match="too large") as refusal:
            await asked.change(id, blocked_globs=("x" * 999,) * 1000, allowed_commands=("y" * 999,) * 1000)
        assert refusal.value.status == 422
        assert await asked.ask(partial(PolicyAsked, id)) == Policy()
        assert await asked.audited(id) == []
        assert await asked.change(id, network_enabled=True) == Policy(network_enabled=True)


ODD = [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"id": 5}', b'{"path": "/x"}', b"5" * 500_000]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd[:20]))
async def test_odd_records_keep_nobody_down_and_an_unreadable_policy_allows_next_to_nothing(
    tmp_path: Path, autojump_clock: MockClock, odd: bytes
) -> None:
    trees = PaperTrees(a="/a")
    async with desk(tmp_path, trees) as asked:
        fact = await asked.register("/a")

    async def spoil(store: StoreClient) -> None:
        await store.put(FACTS, "zz", odd)
        await store.put(POLICIES, fact.id, odd)
        await store.append(f"agent/audit/{fact.id}", [odd])

    async with desk(tmp_path, trees, spoil) as asked:
        assert await asked.listed() == [fact]
        if not odd.startswith(b'{"'):  # in an object all fields of a policy may be missing
            assert await asked.ask(partial(PolicyAsked, fact.id)) == CLOSED
            assert (await asked.change(fact.id, network_enabled=True)).allowed_write_globs == ()
        assert (await asked.change(fact.id, allowed_write_globs=("src/**",))).allowed_write_globs == ("src/**",)
        assert (await asked.ask(partial(PolicyAsked, fact.id))).allowed_write_globs == ("src/**",)


async def test_while_the_store_is_down_the_answer_is_an_error_and_afterwards_all_is_well(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    trees = PaperTrees(a="/a")
    with StateDirectory.claim(tmp_path) as directory:
        store = ChildSpec("store", partial(Store, directory, Inline), restart=Restart.TEMPORARY)
        async with staged(store, workspaces_spec(trees, wall)) as house:
            asked = Desk(house)
            fact = await asked.register("/a")
            house["store"].begin_stop()
            await house["store"].wait_stopped()
            for attempt in (
                partial(ChangePolicy, fact.id, PolicyChange(network_enabled=True), "test"),
                partial(PolicyAsked, fact.id),
            ):
                with pytest.raises(Exception, match="store"):
                    await asked.ask(attempt)
            assert await asked.listed() == [fact]
            assert house.trace.of("stop", "top/workspaces") == []


@pytest.mark.slow
@settings(max_examples=plenty(15), deadline=None)
@given(st.lists(st.sampled_from(["/a", "/b", "/link", "restart", "change"]), max_size=12))
def test_any_order_of_registering_changing_and_restarting_keeps_what_was_answered(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    trees, place = PaperTrees(a="/a", b="/b", link="/a"), tmp_path_factory.mktemp("state")
    place.chmod(0o700)
    known: dict[str, WorkspaceFact] = {}
    policies: dict[str, Policy] = {}

    async def part(some: list[str]) -> None:
        async with desk(place, trees) as asked:
            assert {fact.path: fact for fact in await asked.listed()} == known
            for step in some:
                if step == "change":
                    for fact in known.values():
                        seconds = policies.get(fact.id, Policy()).approval_timeout_s + 1
                        policies[fact.id] = await asked.change(fact.id, approval_timeout_s=seconds)
                else:
                    fact = await asked.register(step)
                    assert known.setdefault(fact.path, fact) == fact
            for fact in known.values():
                assert await asked.ask(partial(PolicyAsked, fact.id)) == policies.get(fact.id, Policy())
                assert len(await asked.audited(fact.id)) == policies.get(fact.id, Policy()).approval_timeout_s

    parts: list[list[str]] = [[]]
    for step in steps:
        if step == "restart":
            parts.append([])
        else:
            parts[-1].append(step)
    for some in [*parts, []]:
        run_in_virtual_time(partial(part, some))
