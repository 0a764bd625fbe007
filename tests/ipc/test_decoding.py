"""No user sees the words of the decoder."""

import re
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from codec.decoding import fault
from codec.ipc.desk import Selection, Wanted, WindowWanted
from codec.ipc.orders import Submission
from codec.ipc.request import Wishes

DECODERS_WORDS = re.compile(r"`|\$|\b(str|int|float|bool|enum|Object|got|of length)\b")


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (Wishes, '{"submitter": "%s"}' % ("x" * 101), "expected submitter to have at most 100 characters"),
        (Wishes, '{"priority": 1000}', "expected priority to be a whole number of at most 100"),
        (Wishes, '{"priority": 0.5}', "expected priority to be a whole number, and it is a number with a fraction"),
        (Wishes, '{"deadline": 1e15}', "expected deadline to be a number below 253,402,300,800"),
        (Wishes, '{"deadline": "x"}', "expected deadline to be a number or null, and it is a text"),
        (Wishes, "[]", "expected it to be an object, and it is an array"),
        (Wishes, '{"prio": 1}', "the field 'prio' is not known"),
        (Submission, "{}", "the field 'command' is missing"),
        (Submission, '{"command": ""}', "expected command to have at least 1 character"),
        (list[Submission], '[{"command": true}]', "expected [0].command to be a text, and it is true or false"),
        (Submission, '{"command": "x", "troupe": {"a": 1}}', "the field 'a' is not known in troupe"),
        (Submission, '{"command": "x", "params": {"a": 1e999}}', "a number in it is larger than can be read"),
        (Selection, '{"older_than": -1}', "expected older_than to be a number of at least 0"),
        (WindowWanted, '{"order": "best"}', "expected order to be something else than 'best'"),
        (Wanted, '{"type": "x"}', "expected type to be something else than 'x'"),
        (tuple[int, int], "[1]", "expected it to have exactly 2 items"),
        (dict[Annotated[str, Meta(max_length=2)], int], '{"abc": 1}', "expected a name in it to have at most 2"),
        (dict[str, dict[str, int]], '{"a": {"b": "c"}}', "expected it to be a whole number, and it is a text"),
        (Annotated[int, Meta(multiple_of=2)], "3", "expected a whole number that's a multiple of 2"),
        (Any, "{", "input data was truncated"),
        (Any, '{"a": 1,}', "trailing comma in object (byte 8)"),
        (Any, b'["\xe9"]', "a text in it is not in UTF-8"),
    ],
)
def test_whatever_a_decoder_finds_is_said_in_words_that_people_use(kind: Any, text: str | bytes, said: str) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)) as wrong:
        msgspec.json.decode(text, type=kind)
    assert fault(wrong.value).startswith(said)
    assert not DECODERS_WORDS.search(fault(wrong.value))
