"""The branch of the desk, as the program builds it: its parts do not end each other."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.ipc.evaluator import Evaluator
from actors.ipc.messages import CLIENT_END, LEDGER, DeskTotalsAsked, Succeeded, TellLedgerNow
from actors.kernel import ChildSpec, SlotState
from actors.kernel.testing import staged
from actors.store import Inline, StateDirectory, Store
from codec.ipc import Request, Success
from codec.settings import IpcSettings, Settings
from program.serving import Listeners
from systems.ipc import ipc_spec


@pytest.mark.slow
async def test_a_part_that_keeps_failing_is_paused_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(self: Evaluator, message: Any) -> None:
        raise RuntimeError("again")

    monkeypatch.setattr(Evaluator, "handle", fail)
    settings = Settings(ipc=IpcSettings(enabled=True, base=str(tmp_path / "base"), port=0))
    with StateDirectory.claim(tmp_path / "state") as directory:
        store = ChildSpec("store", partial(Store, directory, Inline))
        async with staged(store, ipc_spec(settings, Listeners(["ipc"]))) as house:
            evaluator, ipc = house["ipc/evaluator"], house["ipc"]
            with trio.fail_after(30):
                while evaluator.statistics().state is not SlotState.PAUSED:
                    if evaluator.statistics().state is SlotState.RUNNING:
                        evaluator.tell(Succeeded(Request(id="r", command="ping"), Success(1), 0.0))
                    await trio.sleep(0.005)
            others = {ref.path: ref.statistics() for ref in ipc.children() if ref is not evaluator}
            assert {path: each.restarts for path, each in others.items() if each.restarts} == {}
            assert {each.state for each in others.values()} == {SlotState.RUNNING}
            assert ipc.statistics().restarts == 0
            registry = house.stage.registry
            await registry.get(CLIENT_END).ask(TellLedgerNow, timeout=5)
            assert (await registry.get(LEDGER).ask(DeskTotalsAsked, timeout=5)).trouble == ""
