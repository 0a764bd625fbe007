"""A file of instructions: what each becomes, and the sentence for a file that is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from program import instructions
from program.instructions import prompt, read
from program.trouble import Trouble

ALL = {
    "title": "Sort",
    "description": "Sort these.",
    "requirements": ["fast", "stable"],
    "code": "\nx = 1\n",
    "expected_response": "yes",
    "type": "code",
    "difficulty": "easy",
}


NO_REQUIREMENTS: list[object] = [1, [1], ["a", 1], {}, None]


def written(folder: Path, found: object) -> Path:
    file = folder / "them.json"
    file.write_bytes(found if isinstance(found, bytes) else json.dumps(found).encode())
    return file


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (ALL, "Sort\n\nSort these.\n\nRequirements:\n- fast\n- stable\n\n```\nx = 1\n```"),
        ({"title": "Sort"}, "Sort"),
        ({"title": " ", "description": "Sort."}, "Sort."),
        ({"requirements": "fast"}, "Requirements:\n- fast"),
        ({"requirements": []}, ""),
        ({"code": "```\n````"}, "`````\n```\n````\n`````"),
        ({"code": ""}, ""),
        ({}, ""),
    ],
)
def test_a_prompt_has_what_there_is_with_a_line_between(fields: dict[str, Any], text: str) -> None:
    assert prompt(fields) == text


def test_an_instruction_is_its_prompt_what_is_expected_and_what_goes_along(tmp_path: Path) -> None:
    found = [ALL, {"id": "b", "title": "Sort", "difficulty": ""}, {"id": 7, "code": "x"}]
    for form in (found, {"instructions": found}, b"\xef\xbb\xbf" + json.dumps(found).encode()):
        first, second, third = read(written(tmp_path, form))
        assert (first.id, second.id, third.id) == ("1", "b", "7")
        along = {"type": "code", "title": "Sort", "difficulty": "easy"}
        assert first.params == {"prompt": prompt(ALL), **along, "expected_response": "yes"}
        assert second.params == {"prompt": "Sort", "title": "Sort"}
        assert third.params == {"prompt": "```\nx\n```"}


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (b"{", " is not JSON: input data was truncated"),
        (b'[\n{"id": 1},\r\n{"id": 2,}]', " is not JSON: trailing comma in object (line 3)"),
        (b'\xef\xbb\xbf{"id": 1}\n{"id": 2}\n', " is not JSON: trailing characters (line 2)"),
        (b'[{"id": "caf\xe9"}]', " is not JSON: a text in it is not in UTF-8"),
        (b"[" * 100_000, " cannot be read: it is nested too deeply"),
        ([], ": expected a list of instructions, and it is empty"),
        ({"instructions": []}, ": expected a list of instructions, and it is empty"),
        ({"a": 1}, ": expected a list of instructions, and it is an object"),
        (3, ": expected a list of instructions, and it is a number"),
        ([1], ": instruction 1: expected an object, and it is a number"),
        *(
            ([{"title": "a"}, {name: 3}], f": instruction 2: expected {name} to be a string, and it is a number")
            for name in ("title", "description", "code", "expected_response", "type", "difficulty")
        ),
        *(
            ([{"requirements": each}], ": instruction 1: expected requirements to be a string or an array of strings")
            for each in NO_REQUIREMENTS
        ),
        *(
            ([{"id": wrong, "title": "a"}], f": instruction 1: expected id to be a string or a whole number, {called}")
            for wrong, called in ((True, "and it is true"), (1.5, "and it is a number"), (None, "and it is null"))
        ),
        ([{"id": 1}], ": instruction 1: it asks for nothing; give it a title, a description or code"),
        (
            [{"id": each, "title": "a"} for each in (3, "2", 2, "3")],
            ": an id stands there more than once: '2'",
        ),
    ],
)
def test_a_file_of_anything_else_is_refused_in_a_sentence(tmp_path: Path, found: object, sentence: str) -> None:
    file = written(tmp_path, found)
    with pytest.raises(Trouble) as refused:
        read(file)
    assert str(refused.value) == f"{file}{sentence}"


def test_a_file_may_be_as_large_as_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, [{"title": "a"}])
    size = file.stat().st_size
    monkeypatch.setattr(instructions, "LARGEST", size)
    assert len(read(file)) == 1
    monkeypatch.setattr(instructions, "LARGEST", size - 1)
    with pytest.raises(Trouble, match=rf"them\.json is larger than {size - 1} bytes; split it$"):
        read(file)
    with pytest.raises(Trouble, match=r"none\.json cannot be read: No such file or directory$"):
        read(tmp_path / "none.json")
