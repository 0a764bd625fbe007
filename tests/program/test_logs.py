import io
import json
import logging
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from typing import Any, TextIO

import pytest
import structlog

from program.arguments import LogFormat, LogLevel
from program.logs import LineWriter, LogStatistics, logging_to
from tests.patience import PATIENCE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Logged:
    """A block whose log can be read after it."""

    def __init__(self, form: LogFormat = "json", level: LogLevel = "info") -> None:
        self.stream = io.StringIO()
        self._block = logging_to(self.stream, form=form, level=level)

    def __enter__(self) -> "Logged":
        self._block.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._block.__exit__(*error)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


def test_json_is_one_object_a_line_and_begins_with_when_how_bad_and_what() -> None:
    with Logged() as log:
        structlog.get_logger().info("console is up", url="http://127.0.0.1:5160", port=5160)
        structlog.get_logger().warning("two\nlines")
    first, second = log.entries
    assert list(first) == ["timestamp", "level", "event", "url", "port"]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", first["timestamp"])
    assert (first["level"], first["event"], first["port"]) == ("info", "console is up", 5160)
    assert second["event"] == "two\\nlines"


def test_text_is_for_people() -> None:
    with Logged("text") as log:
        structlog.get_logger().info("console is up", port=5160)
    assert re.fullmatch(r"\d\d:\d\d:\d\d \[info +\] console is up +port=5160\n", log.text)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_time_in_text_is_that_of_the_place_and_in_json_that_of_the_world(
    form: LogFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "XXX-05:30")  # ahead of Greenwich
    time.tzset()
    try:
        began = datetime.now(UTC)
        with Logged(form) as log:
            structlog.get_logger().info("one")
    finally:
        monkeypatch.undo()
        time.tzset()
    if form == "json":
        at = datetime.fromisoformat(log.entries[0]["timestamp"])
    else:
        at = datetime.combine(began, clock.fromisoformat(log.text[:8]), UTC) - timedelta(hours=5.5)
    assert (at - began + timedelta(seconds=1)) % timedelta(days=1) < timedelta(minutes=5)  # text has no fractions


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_gets_text_and_colours_unless_it_objects(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], coloured: bool
) -> None:
    for name, value in ({"TERM": "xterm"} | environ).items():
        monkeypatch.setenv(name, value)
    if "NO_COLOR" not in environ:
        monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    with logging_to(terminal):
        structlog.get_logger().info("up")
    assert "up" in terminal.getvalue()
    assert "{" not in terminal.getvalue()
    assert ("\x1b[" in terminal.getvalue()) is coloured


def test_what_is_no_terminal_gets_json() -> None:
    with Logged("auto") as log:
        structlog.get_logger().info("up")
    assert log.entries[0]["event"] == "up"


def test_libraries_records_take_the_same_road() -> None:
    with Logged() as log:
        logging.getLogger("hypercorn.error").warning("odd %s", "frame", extra={"token": "x"})
        logging.getLogger("quart.app").info("100%")
    first, second = log.entries
    assert (first["event"], first["level"], first["logger"]) == ("odd frame", "warning", "hypercorn.error")
    assert second["event"] == "100%"


def test_whatever_is_logged_in_a_conversation_carries_its_id() -> None:
    with Logged() as log, structlog.contextvars.bound_contextvars(conversation="c7"):
        structlog.get_logger().info("ours")
        logging.getLogger("hypercorn.error").warning("theirs")
    logging.getLogger("hypercorn.error").warning("outside")
    assert [(each["event"], each["conversation"]) for each in log.entries] == [("ours", "c7"), ("theirs", "c7")]


def test_a_logger_that_has_a_name_says_it() -> None:
    with Logged() as log:
        structlog.get_logger("tree").info("a")
        structlog.get_logger().info("b")
    assert [each.get("logger") for each in log.entries] == ["tree", None]


def test_warnings_are_logged_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with Logged() as log:
            warnings.warn("careful", RuntimeWarning, stacklevel=1)
    assert "careful" in log.entries[0]["event"]
    assert log.entries[0]["logger"] == "py.warnings"


def test_a_record_whose_arguments_do_not_fit_is_logged_with_them() -> None:
    with Logged() as log:
        logging.getLogger("sloppy").info("%d files", "many")
    assert (log.entries[0]["event"], log.entries[0]["arguments"]) == ("%d files", ["many"])


@pytest.mark.parametrize(("level", "events"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_what_is_below_the_level_is_not_logged(level: LogLevel, events: int) -> None:
    with Logged(level=level) as log:
        for logger in (structlog.get_logger(), logging.getLogger("library")):
            logger.debug("d")
            logger.info("i")
            logger.warning("w")
            logger.error("e")
    assert len(log.entries) == 2 * events


@pytest.mark.parametrize("logger", [structlog.get_logger(), logging.getLogger("library")], ids=["ours", "library"])
def test_an_exception_is_one_entry_without_its_secrets(logger: Any) -> None:
    with Logged() as log:
        try:
            raise ValueError("refused /?token=abc")
        except ValueError:
            logger.exception("it broke")
    (entry,) = log.entries
    assert entry["exception"].startswith("Traceback")
    assert entry["exception"].endswith("ValueError: refused /?token=***")


def test_an_entry_that_cannot_be_rendered_is_a_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_once(*_: object) -> str:
        monkeypatch.undo()
        raise RuntimeError("no")

    with Logged() as log:
        monkeypatch.setattr("codec.redaction.clean", fail_once)
        structlog.get_logger().info("up", fact=1)
    assert log.entries[0]["event"] == "a log entry could not be rendered: RuntimeError"


def test_afterwards_logging_is_as_it_was() -> None:
    before = logging.getLogger().handlers[:], logging.getLogger().level
    with Logged(level="error"):
        pass
    assert (logging.getLogger().handlers, logging.getLogger().level) == before
    assert not structlog.is_configured()


@contextmanager
def pipe() -> Iterator[tuple[int, TextIO]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as reader, os.fdopen(writing, "w") as writer:
        yield reader.fileno(), writer


def hang_up(reader: int) -> None:
    """Close a pipe's reading end, under a file that will close its descriptor once more."""
    elsewhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(elsewhere, reader)
    os.close(elsewhere)


def test_a_reader_who_stalls_holds_up_nobody_and_is_told_what_was_lost() -> None:
    with pipe() as (reader, stream):
        writer = LineWriter(stream, dropped=lambda count: f"{count} lost", capacity=100)
        line = "x" * 1000
        begun = time.monotonic()
        for _ in range(1000):
            writer.put(line)
        assert time.monotonic() - begun < PATIENCE
        dropped = writer.statistics().dropped
        assert dropped > 700  # a pipe holds 65 lines of these, the queue 100
        seen = b""
        while seen.count(b"x\n") < 1000 - dropped:
            seen += os.read(reader, 65_536)
        writer.put("after")
        while not seen.endswith(b"after\n"):
            seen += os.read(reader, 65_536)
        writer.close()
    lines = seen.decode().splitlines()
    notices = [int(each.split()[0]) for each in lines if each.endswith(" lost")]
    assert sum(notices) == dropped
    assert len(lines) - len(notices) == 1001 - dropped
    assert writer.statistics() == LogStatistics(written=len(lines), dropped=dropped, waiting=0, reader="there")


def test_ending_waits_for_a_stalled_reader_only_so_long() -> None:
    with pipe() as (reader, stream):
        writer = LineWriter(stream, dropped=str)
        for _ in range(200):
            writer.put("x" * 1000)
        writer.close(timeout=0.01)
        assert writer.statistics().waiting > 0
        hang_up(reader)  # so that its thread ends with this test
        writer.close()
        assert writer.statistics().waiting == 0


def test_a_reader_who_is_gone_is_no_error() -> None:
    with pipe() as (reader, stream):
        writer = LineWriter(stream, dropped=str)
        hang_up(reader)
        writer.put("one")
        writer.put("two")
        writer.close()
        assert writer.statistics() == LogStatistics(written=0, dropped=0, waiting=0, reader="gone")


LOGS_A_LOT = """
import structlog
from program.logs import logging_to
with logging_to():
    for number in range(5000):
        structlog.get_logger().info("line", number=number)
print("done")
"""


def run(script: str, redirected: str) -> "subprocess.CompletedProcess[str]":
    root = Path(__file__).parents[2]
    command = ["bash", "-c", f'"$0" -c "$1" {redirected}', sys.executable, script]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", "2> >(exec 0<&-)"], ids=["closed", "full", "gone"])
def test_a_program_whose_log_goes_nowhere_ends_well(redirected: str) -> None:
    ended = run(LOGS_A_LOT, redirected)
    assert (ended.returncode, ended.stdout) == (0, "done\n")


@pytest.mark.slow
def test_the_log_goes_to_standard_error_and_is_whole_at_the_end() -> None:
    ended = run(LOGS_A_LOT.replace("5000", "2000"), "")
    assert ended.stdout == "done\n"
    assert [json.loads(line)["number"] for line in ended.stderr.splitlines()] == list(range(2000))
