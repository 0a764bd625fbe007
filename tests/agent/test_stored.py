"""What the store refuses, or cannot do just now, is told in words, and by a status that says whose fault it is."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.agent.stored import not_read, not_stored, trouble_told
from actors.kernel import KernelError, NobodyThere
from actors.store import Refused, StoreError, StoreFull
from codec.agent.refusing import ContractRefusal, no_session

WORDS = [
    (not_stored, Refused("9 MB"), 422, "The policy is too large to be stored."),
    (not_stored, StoreFull("x"), 507, "The policy was not stored: the disk is full. Make room and try again."),
    (not_stored, StoreError("the disk fails"), 503, "The policy was not stored: the disk fails."),
    (not_read, StoreError("the disk fails"), 503, "The policy cannot be read: the disk fails."),
    (not_read, StoreFull("the disk is full"), 503, "The policy cannot be read: the disk is full."),
]


class PaperReply:
    def __init__(self, abandoned: bool = False) -> None:
        self.abandoned = abandoned
        self.failures: list[Exception] = []

    def fail(self, error: Exception) -> None:
        self.failures.append(error)


@pytest.mark.parametrize(("words", "error", "status", "told"), WORDS)
@pytest.mark.parametrize("abandoned", [False, True])
def test_a_trouble_of_the_store_is_told_to_who_asked_if_somebody_still_does(
    words: Callable[[str, StoreError], ContractRefusal], error: StoreError, status: int, told: str, abandoned: bool
) -> None:
    reply: Any = PaperReply(abandoned)
    with trouble_told(reply, "The policy", words):
        raise error
    assert [(each.status, str(each)) for each in reply.failures] == ([] if abandoned else [(status, told)])


@pytest.mark.parametrize("error", [NobodyThere("the store"), no_session()])
def test_what_is_told_already_is_passed_on_and_a_fault_of_ours_is_none_of_it(error: KernelError) -> None:
    reply: Any = PaperReply()
    with trouble_told(reply, "The policy"):
        raise error
    assert reply.failures == [error]
    with pytest.raises(ZeroDivisionError), trouble_told(reply, "The policy"):
        raise ZeroDivisionError
