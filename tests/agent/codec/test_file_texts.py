"""Which bytes are a text, and how many of odd characters a text may have."""

import pytest

from codec.agent.file_texts import MOST_ODD, decoded, file_text
from codec.agent.files import FileRefused

LATIN = "ü".encode("latin-1") * round(1 / MOST_ODD)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("ä".encode(), "utf-8"),
        ("ä".encode("utf-8-sig"), "utf-8"),
        ("ä".encode("utf-16-le"), None),
        (b"\xff\xfe" + "ä".encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + "ä".encode("utf-16-be"), "utf-16-be"),
        (b"\xff\xfe\0\0" + "ä".encode("utf-32-le"), "utf-32-le"),
        (b"\0\0\xfe\xff" + "ä".encode("utf-32-be"), "utf-32-be"),
        (b"\xff\xfea", None),
        (b"\xef\xbb\xbf\xff", "latin-1"),
        (b"a\0b" * 1000, None),
        (LATIN[:-1] + b"\1", "latin-1"),
        (LATIN[:-2] + b"\1", None),
        (b"\1" * 9, "utf-8"),
        (LATIN[:-1] + b"\x20", "latin-1"),
    ],
)
def test_what_is_no_text_is_refused_with_its_size(data: bytes, encoding: str | None) -> None:
    found = decoded(data)
    assert (found and found[1]) == encoding
    if encoding is None:
        with pytest.raises(FileRefused) as refused:
            file_text("a.bin", data, 1, None, 100)
        assert str(refused.value) == f"a.bin is no text: it has {len(data):,} bytes of something else."
