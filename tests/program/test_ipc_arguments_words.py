import argparse

import pytest

from program import values
from program.ipc_arguments import _priority


def test_errors_name_the_unit_and_the_range() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="number of days"):
        values.days("-1")
    with pytest.raises(argparse.ArgumentTypeError, match="from -100 to 100"):
        _priority("200")
    assert _priority("-5") == -5
