"""Drafts that are written at once have names of their own, however many there are."""

from transports.folder.drafts import new_draft


def test_no_two_drafts_of_a_crowd_have_the_same_name() -> None:
    assert len({new_draft() for _ in range(50_000)}) == 50_000
