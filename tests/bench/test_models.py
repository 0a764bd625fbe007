"""The readers of the models' bench all read what the source sends, and their figures are figures."""

import pytest

from bench import models


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("streams", [1, 3])
def test_every_reader_says_how_long_its_tokens_took(streams: int) -> None:
    with models._source() as port:
        for reader in ("ours", *models.READERS):
            reading = models._read(reader, port, streams, 0.3)
            assert 0 < reading["p50"] <= reading["p99"] <= reading["most"] < 60e9
            assert reading["cpu"] > 0
            assert reading["tokens"] > 0


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_line_for_each_figure_and_peer() -> None:
    results = list(models._compare(1, 1, 0.3))
    assert [result.peer for result in results] == [*models.READERS.values()] * len(models.FIGURES)
    assert all(result.ratio is not None and result.ratio > 0 for result in results)
    assert all((result.goal is None) == (result.peer == "sockets") for result in results)
