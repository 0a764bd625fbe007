"""One problem as Competitive Companion posts it, and how we read it.

The extension reads a hundred sites, each with its own parser, and ignores our answer. So a body is refused only if
nothing can be made of it. Other mistakes of a parser are corrected:

  - a limit that is null, zero, below, or no number at all is None; a fraction of a millisecond is dropped;
  - a test without its output has an empty one, a test without both is none;
  - texts have `\n` for `\r\n` and end in a newline, as the extension's own do;
  - a kind of input or output that we do not know, or that lacks its name, is standard input or output;
  - half a surrogate pair is the replacement character; a bare NaN is null.

Each refusal is a sentence. A file's name must be a plain name without a path, because a file of that name will be
written.

The struct is filled by hand, because a decoder would refuse the whole body for one odd field.
"""

import json
import math
from typing import Any, Literal

import msgspec
from msgspec import Struct

from codec.judge.texts import whole, wholly
from codec.judge.wording import shown
from codec.words import kind

LONGEST = 64 * 1024 * 1024
"""Bytes of a body."""
MOST_TESTS = 1_000
LONGEST_NAME = 300
LONGEST_URL = 4_096
LONGEST_FILE_NAME = 100
LONGEST_PATTERN = 1_000

WANTED = "expected one problem as a JSON object, as Competitive Companion sends it"


class BadTask(Exception):
    """A body that is not a problem. The error's text is a sentence for the user."""


class Stdin(Struct, frozen=True, gc=False, tag="stdin"):
    pass


class Stdout(Struct, frozen=True, gc=False, tag="stdout"):
    pass


class File(Struct, frozen=True, gc=False, tag="file", rename="camel"):
    """The program reads or writes a file of this name in its working directory."""

    file_name: str


class Regex(Struct, frozen=True, gc=False, tag="regex"):
    """The newest downloaded file whose name matches. The pattern is not ours: it may be slow, or invalid."""

    pattern: str


Input = Stdin | File | Regex
Output = Stdout | File


class Sample(Struct, frozen=True, gc=False):
    """One of a task's `tests`."""

    input: str
    output: str


class Batch(Struct, frozen=True, gc=False):
    """The posts of one contest have one id. They may never all come."""

    id: str
    size: int


class Task(Struct, frozen=True, kw_only=True, rename="camel"):
    """A problem with a url, or with a group and a name. It always has a name in the end."""

    name: str
    group: str = ""
    url: str = ""
    interactive: bool = False
    time_limit: int | None = None
    """Milliseconds."""
    memory_limit: int | None = None
    """MB."""
    tests: tuple[Sample, ...] = ()
    test_type: Literal["single", "multiNumber"] = "single"
    input: Input = Stdin()
    output: Output = Stdout()
    batch: Batch | None = None


def read_task(body: bytes, *, chelper: bool = False) -> Task:
    """The problem in a body. With `chelper` the body may begin with a line `json`, as CHelper's port gets it."""
    fields = _object(_without_mark(body, chelper))
    url, group, name = _url(fields.get("url")), _line(fields.get("group")), _line(fields.get("name"))
    if not url and not (group and name):
        raise BadTask(
            f"the problem has no address: expected url (http or https), or both group and name; url is "
            f"{_given(fields, 'url')}, group is {_given(fields, 'group')}, name is {_given(fields, 'name')}"
        )
    return Task(
        name=name or _last_part(url),
        group=group,
        url=url,
        interactive=fields.get("interactive") is True,
        time_limit=_limit(fields.get("timeLimit")),
        memory_limit=_limit(fields.get("memoryLimit")),
        tests=_tests(fields.get("tests")),
        test_type="multiNumber" if fields.get("testType") == "multiNumber" else "single",
        input=_input(fields.get("input")),
        output=_output(fields.get("output")),
        batch=_batch(fields.get("batch")),
    )


# --- from bytes to an object -----------------------------------------------------------------------------------------


def _without_mark(body: bytes, chelper: bool) -> bytes:
    if len(body) > LONGEST:
        raise BadTask(f"the body has {len(body):,} bytes; expected at most {LONGEST:,}")
    body = body.removeprefix(b"\xef\xbb\xbf").strip()
    if body.startswith(b"json"):
        if not chelper:
            raise BadTask(f"the body begins with `json`, which is CHelper's form; on this port {WANTED}")
        body = body.removeprefix(b"json").lstrip()
    if not body:
        raise BadTask(f"the body is empty; {WANTED}")
    return body


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = _decoded(body)
    except UnicodeDecodeError:
        raise BadTask(f"the body is not UTF-8; {WANTED}") from None
    except RecursionError:
        raise BadTask(f"the body is nested too deep to be read; {WANTED}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise BadTask(f"the body is not JSON ({where}); {WANTED}") from None
    except ValueError:  # Python refuses to read a number of more than 4,300 digits
        raise BadTask(f"the body holds a number too long to be read; {WANTED}") from None
    if not isinstance(value, dict):
        raise BadTask(f"the body is {kind(value)}; {WANTED}")
    return value


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.MsgspecError:  # a bare NaN, half a surrogate pair, 1e400; or it is no JSON, and json says where
        return wholly(json.loads(body.decode(), parse_constant=lambda _: None))


# --- from a value to a field -----------------------------------------------------------------------------------------


def _line(value: Any) -> str:
    """A text in one line, of a length that a person will read; empty if there is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = shown(value)
    if not isinstance(value, str):
        return ""
    spaced = "".join(each if each.isprintable() else " " for each in value[: 4 * LONGEST_NAME])
    return " ".join(spaced.split())[:LONGEST_NAME].rstrip()


def _url(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    url = value.strip()
    if len(url) > LONGEST_URL:
        raise BadTask(f"url has {len(url):,} characters; expected at most {LONGEST_URL:,}")
    if not url.lower().startswith(("http://", "https://")) or not url.isprintable():
        return ""
    return url


def _last_part(url: str) -> str:
    """The name for a problem that has none."""
    parts = [part for part in url.split("?")[0].split("#")[0].split("/") if part]
    return parts[-1][:LONGEST_NAME]


def _limit(value: Any) -> int | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return math.floor(value) if value >= 1 else None


def _tests(value: Any) -> tuple[Sample, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadTask(f"tests must be an array of objects with input and output, not {kind(value)}")
    if len(value) > MOST_TESTS:
        raise BadTask(f"the problem has {len(value):,} tests; expected at most {MOST_TESTS:,}")
    samples = [_sample(number, test) for number, test in enumerate(value)]
    return tuple(sample for sample in samples if sample.input or sample.output)


def _sample(number: int, test: Any) -> Sample:
    if not isinstance(test, dict):
        raise BadTask(f"tests[{number}] must be an object with input and output, not {kind(test)}")
    return Sample(*(_text(f"tests[{number}].{name}", test.get(name)) for name in ("input", "output")))


def _text(name: str, value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            text = whole(value).replace("\r\n", "\n")
            return text if not text or text.endswith("\n") else f"{text}\n"
        case int() | float() if not isinstance(value, bool):
            return f"{value}\n"
    raise BadTask(f"{name} must be a string, not {kind(value)}")


def _input(value: Any) -> Input:
    match value:
        case {"type": "file", "fileName": str(name)} if name.strip():
            return File(_file_name("input", name))
        case {"type": "regex", "pattern": str(pattern)} if pattern:
            if len(pattern) > LONGEST_PATTERN:
                raise BadTask(f"input.pattern has {len(pattern):,} characters; expected at most {LONGEST_PATTERN:,}")
            return Regex(pattern)
    return Stdin()


def _output(value: Any) -> Output:
    match value:
        case {"type": "file", "fileName": str(name)} if name.strip():
            return File(_file_name("output", name))
    return Stdout()


def _file_name(which: str, given: str) -> str:
    name = given.strip()
    if not is_file_name(name):
        example = "input.txt" if which == "input" else "output.txt"
        raise BadTask(f'{which}.fileName must be a plain file name such as "{example}", not {shown(given)}')
    return name


def is_file_name(name: str) -> bool:
    """Whether this is a plain name that a program's file may have on any system."""
    forbidden = name.startswith(".") or name.endswith(".") or any(each in '/\\:*?"<>|' for each in name)
    return bool(name) and not forbidden and name.isprintable() and len(name.encode()) <= LONGEST_FILE_NAME


def _batch(value: Any) -> Batch | None:
    match value:
        case {"id": str(name), "size": int(size)} if name and len(name) <= 100 and size >= 1 and size is not True:
            return Batch(name, size)
    return None


def _given(fields: dict[str, Any], name: str) -> str:
    return shown(fields[name]) if name in fields else "missing"
