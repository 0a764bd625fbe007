"""A short storm over a real server; the long one is a command (see storm.py)."""

from functools import partial
from pathlib import Path

import pytest
import trio

from tests.house.running import server
from tests.sidekick.storm import Weather, calm, restarts, storm


@pytest.mark.slow
def test_in_a_storm_nobody_restarts_and_the_board_beside_stands(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("randomly_seed", 0)
    weather = Weather()
    with server(tmp_path) as house:
        house.ready()
        trio.run(partial(storm, house, seed if isinstance(seed, int) else 0, 2, weather, rooms=3))
        assert restarts(house) == {}
        assert house.stop() == 0
        assert calm(house.said), (seed, house.said)
    assert weather.messages > 2_000
