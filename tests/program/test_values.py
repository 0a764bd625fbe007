"""What a word of a command line may be, to its last byte, and the sentence for one that may not."""

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from program import ipc_arguments, places, values

HERE = places.here()
HOME = Path("/home/me")

TAKEN: list[tuple[Callable[[str], object], str, object]] = [
    (values.path, "/a", Path("/a")),
    (values.path, "a", HERE / "a"),
    (values.path, "~/a", HOME / "a"),
    (values.file, "-", None),
    (values.file, "--", HERE / "--"),
    (values.program, "a b", "a b"),
    (values.word, " a b ", "a b"),
    (values.question, " a b ", "a b"),
    (values.session, " a b ", "a b"),
    (values.file_name, "in.txt", "in.txt"),
    (values.room, "a" * 64, "a" * 64),
    (values.size, "1", 1),
    (values.size, "9" * 15, 10**15 - 1),
    (values.size, "2k", 2_000),
    (values.size, "2M", 2_000_000),
    (values.size, "2G", 2_000_000_000),
    (values.speed, "max", 0.0),
    (values.speed, "0.001", 0.001),
    (values.seconds, "0", 0.0),
    (values.seconds, "1e3", 1000.0),
    (values.days, "0.5", 0.5),
    (values.whole(2, 4), "2", 2),
    (values.whole(2, 4), "4", 4),
    (values.whole(0, 999_999_999), "999999999", 999_999_999),
    (values.url, "http://h", "http://h"),
    (values.url, "http://h:1", "http://h:1"),
    (values.url, "http://[::1]:65535/x", "http://[::1]:65535/x"),
    (ipc_arguments._params, '{"a": [1]}', {"a": [1]}),
    (ipc_arguments._priority, "-100", -100),
    (ipc_arguments._priority, "100", 100),
]

AN_OBJECT = 'expected a JSON object such as \'{"mode": "chat"}\''
A_SPEED = "expected a number above 0, such as 2 or 0.5, or max for as fast as possible, got "
AN_ADDRESS = "expected an address such as http://127.0.0.1:5160, got "
REFUSED: list[tuple[Callable[[str], object], str, str]] = [
    (values.path, "", "expected a path"),
    (values.path, "a\0", "expected a path"),
    (values.path, "~nobody-of-that-name/a", "there is no home directory for '~nobody-of-that-name'"),
    (values.file, "", "expected a path"),
    (values.program, "", "expected cpython, pypy, or the path of a Python"),
    (values.program, "a\n", "expected cpython, pypy, or the path of a Python"),
    (values.word, " ", "expected a part of a name or path, such as sidekick or 'page *'"),
    (values.question, " ", 'expected a question, such as "where is the configuration read?"'),
    (values.session, " ", "expected the id of a session; `troupe sessions` lists them"),
    (values.file_name, "a/b", "expected a plain file name such as input.txt, got 'a/b'"),
    *(
        (
            values.room,
            text,
            f"expected the name of a room, 1 to 64 letters, digits, hyphens or underscores, got {text!r}",
        )
        for text in ("", "a b", "a" * 65)
    ),
    *(
        (values.size, text, f"expected a number of bytes, such as 500000 or 500M, got {text!r}")
        for text in ("", "0", "0k", "1T", "1kk", "-1", "1" * 16)
    ),
    *((values.speed, text, f"{A_SPEED}{text!r}") for text in ("", "0", "-1", "inf", "nan", "Max")),
    *(
        (values.seconds, text, f"expected a number of seconds, such as 2, got {text!r}")
        for text in ("", "-1", "inf", "nan", "1s")
    ),
    (values.days, "-0.5", "expected a number of days, such as 30, got '-0.5'"),
    *(
        (values.whole(2, 4), text, f"expected a whole number from 2 to 4, got {text!r}")
        for text in ("", "1", "5", "3.0", "+3", "0000000003")
    ),
    *(
        (values.url, text, f"{AN_ADDRESS}{text!r}")
        for text in ("", "h:1", "https://h", "http://", "http://:1", "http://h:0", "http://h:65536", "http://[::1")
    ),
    (ipc_arguments._params, "[]", AN_OBJECT),
    (ipc_arguments._params, "{", f"{AN_OBJECT}: input data was truncated"),
    *(
        (ipc_arguments._priority, text, f"expected a whole number from -100 to 100, got {text!r}")
        for text in ("", "101", "-101", "1.0", "0001")
    ),
]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(HOME))


@pytest.mark.parametrize(("read", "text", "value"), TAKEN)
def test_a_word_is_read(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(("read", "text", "sentence"), REFUSED)
def test_a_word_that_may_not_be_is_refused_in_a_sentence(
    read: Callable[[str], object], text: str, sentence: str
) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        read(text)
    assert str(refused.value) == sentence
