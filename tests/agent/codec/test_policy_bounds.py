"""Every number of seconds that a policy takes has a greatest value."""

import msgspec
import pytest

from codec.agent.workspaces import LONGEST_WAIT, PolicyChange


@pytest.mark.parametrize("seconds", ["1e300", "1e999", "NaN", "Infinity", "-1", str(LONGEST_WAIT + 1), "null", '"600"'])
def test_a_time_that_nobody_can_wait_for_is_refused(seconds: str) -> None:
    with pytest.raises(msgspec.DecodeError):  # what is no number of the kind that is wanted raises a ValidationError
        msgspec.json.decode(f'{{"approval_timeout_s": {seconds}}}', type=PolicyChange)


@pytest.mark.parametrize("seconds", ["0", "600", "0.5", str(LONGEST_WAIT)])
def test_any_other_is_taken(seconds: str) -> None:
    change = msgspec.json.decode(f'{{"approval_timeout_s": {seconds}}}', type=PolicyChange)
    assert change.approval_timeout_s == float(seconds)


def test_the_refusal_says_what_is_the_most() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"<= 31622400.*approval_timeout_s"):
        msgspec.json.decode(b'{"approval_timeout_s": 1e300}', type=PolicyChange)
