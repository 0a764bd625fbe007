"""More cases at once than there are cores: each has the time that it would have alone."""

import os
from pathlib import Path

import pytest

from tests.house.running import server
from tests.judge.port import Port

BURNS = """
import time
index = int(input())
end = time.thread_time() + 0.3
while time.thread_time() < end:
    pass
if index == 0:
    time.sleep(1000)
print(index)
"""
AT_ONCE = 7 * len(os.sched_getaffinity(0))


@pytest.mark.slow
async def test_no_case_is_late_for_having_waited_for_a_core_and_a_sleeper_is(tmp_path: Path) -> None:
    """Half of a second is allowed, and a fifth more; of wall time three times that. All together take longer."""
    cases = [(f"{number}\n", f"{number}\n") for number in range(AT_ONCE)]
    options = ("--set", f"judge.workspace={tmp_path}/workspace", "--set", f"judge.jobs={AT_ONCE}")
    with server(tmp_path, *options) as house:
        port = Port(house.ready(), tmp_path / "workspace")
        async with port.solving("crowd/crowd_a", BURNS, *cases, timeLimit=500) as panel:
            results = await panel.run()
        sleeper, *others = results
        assert [result["verdict"] for result in others] == ["AC"] * (AT_ONCE - 1), others
        assert max(result["durationMs"] for result in others) > 1800
        assert sleeper["verdict"] == "TLE"
        assert "of waiting" in sleeper["reason"]
        assert house.stop() == 0, house.said
