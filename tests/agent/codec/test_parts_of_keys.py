"""A private key in the middle of a file is withheld also from whoever asks for a part of the file."""

import pytest

from codec.agent.file_texts import file_text

TEXT = b"# Notes\n\n-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nMIIEdef\n-----END RSA PRIVATE KEY-----\nafter\n"


@pytest.mark.parametrize("first", range(1, 8))
@pytest.mark.parametrize("last", range(1, 8))
def test_no_range_of_lines_tells_a_part_of_a_private_key(first: int, last: int) -> None:
    assert "MIIE" not in file_text("notes.md", TEXT, first, last, 1000).text


def test_lines_after_a_private_key_keep_their_numbers() -> None:
    assert file_text("notes.md", TEXT, 7, 7, 1000).text == "after\n"
