"""The log: writes structlog's entries and the standard library's records to standard error, in one stream.

Rules
  - On a terminal the log is readable text; elsewhere it is JSON, one object a line.
  - The loop never waits for the reader of the log. Entries are rendered where they are made (where the conversation's
    facts are known) and written by a separate thread. If the reader stalls, at most `CAPACITY` lines wait. Further
    lines are dropped and counted, and the count is logged when the reader is back. If the reader has gone, lines are
    discarded.
  - Entries that belong to a conversation carry its id: log them inside `with conversation(id):`. Tasks that are started
    inside it inherit the id.
  - Nothing secret is written (codec/redaction.py).
  - An entry that cannot be rendered is a line that says so; logging never raises.
"""

import logging
import queue
import sys
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from typing import Any, Literal, TextIO

import msgspec
import structlog
from msgspec import Struct

from codec.redaction import blank_secrets
from program import streams
from program.arguments import LogFormat, LogLevel
from program.terminal import colours_wanted, is_terminal

CAPACITY = 4_096
FAREWELL = 1.0
"""Seconds that the end of the program waits for the last lines to be written."""

_LEVELS: dict[LogLevel, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

Entry = MutableMapping[str, Any]


class LogStatistics(Struct, frozen=True):
    written: int
    dropped: int
    waiting: int
    reader: Literal["there", "gone"]


@contextmanager
def logging_to(
    stream: TextIO | None = None, *, form: LogFormat = "auto", level: LogLevel = "info"
) -> Iterator["LineWriter"]:
    """Within the block, all log entries go to `stream` (standard error), both structlog's and the standard
    library's."""
    if stream is None:
        stream = sys.stderr  # None in a process that was started without standard error
    render = _renderer(stream, form)
    writer = LineWriter(stream, dropped=lambda count: render(_notice(count)))
    root = logging.getLogger()
    before = root.handlers[:], root.level
    handler = _FromLibrary(lambda entry: writer.put(render(entry)))
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            _name_logger,
            lambda _logger, _method, entry: render(entry),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lambda *name: _Sink(writer.put, *name),
        cache_logger_on_first_use=False,
    )
    root.handlers[:] = [handler]
    root.setLevel(_LEVELS[level])
    logging.captureWarnings(True)
    try:
        yield writer
    finally:
        logging.captureWarnings(False)
        root.handlers[:], level_before = before
        root.setLevel(level_before)
        structlog.reset_defaults()
        writer.close()


class LineWriter:
    """A thread that writes lines, so that a reader that stalls holds up nothing else."""

    def __init__(self, stream: TextIO | None, *, dropped: Callable[[int], str], capacity: int = CAPACITY) -> None:
        self._stream = stream
        self._gone = stream is None
        self._dropped_notice = dropped
        self._lines: queue.Queue[str | None] = queue.Queue(capacity)
        self._written = 0
        self._dropped = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._dropped += 1

    def close(self, timeout: float = FAREWELL) -> None:
        """Writes the waiting lines, for at most `timeout` seconds."""
        if not self._closing:
            self._closing = True
            with suppress(queue.Full):  # full: then the thread needs no waking
                self._lines.put_nowait(None)
        self._thread.join(timeout)

    def statistics(self) -> LogStatistics:
        return LogStatistics(self._written, self._dropped, self._lines.qsize(), "gone" if self._gone else "there")

    def _run(self) -> None:
        told = 0
        while not (self._closing and self._lines.empty()):
            line = self._lines.get()
            if line is not None:
                self._say(line)
            if (dropped := self._dropped) > told:
                self._say(self._dropped_notice(dropped - told))
                told = dropped

    def _say(self, line: str) -> None:
        if self._stream is None or self._gone:
            return
        try:
            streams.write(f"{line}\n", self._stream, errors="backslashreplace")
            self._written += 1
        except (OSError, ValueError):  # the pipe's other end is closed, or the stream is
            self._gone = True


class _Sink:
    """A logger for structlog whose levels all write the same way."""

    def __init__(self, put: Callable[[str], None], name: str | None = None) -> None:
        self.name = name
        self.debug = self.info = self.warning = self.error = self.critical = self.msg = put


def _name_logger(logger: _Sink, _method: str, entry: Entry) -> Entry:
    if logger.name:
        entry.setdefault("logger", logger.name)
    return entry


class _FromLibrary(logging.Handler):
    """Records of hypercorn, quart, trio-websocket and other users of the standard library."""

    def __init__(self, put: Callable[[Entry], None]) -> None:
        super().__init__()
        self._put = put

    def emit(self, record: logging.LogRecord) -> None:
        entry: Entry = {"event": record.msg, "level": record.levelname.lower(), "logger": record.name}
        try:
            entry["event"] = record.getMessage().rstrip()
        except Exception:  # arguments that do not fit their format: somebody else's bug, and still worth reading
            entry["arguments"] = record.args
        if record.exc_info:
            entry["exc_info"] = record.exc_info
        structlog.contextvars.merge_contextvars(None, "", entry)
        self._put(entry)


def _renderer(stream: TextIO | None, form: LogFormat) -> Callable[[Entry], str]:
    text = form == "text" or (form == "auto" and stream is not None and is_terminal(stream))
    last: Any = _json
    if text:
        last = structlog.dev.ConsoleRenderer(
            colors=stream is not None and colours_wanted(stream), exception_formatter=structlog.dev.plain_traceback
        )
    steps: tuple[Any, ...] = (
        structlog.processors.TimeStamper("%H:%M:%S" if text else "iso", utc=not text),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        blank_secrets,
        last,
    )

    def render(entry: Entry) -> str:
        passed: Any = entry
        for step in steps:
            passed = step(None, "", passed)
        return str(passed)

    def surely(entry: Entry) -> str:
        try:
            return render(entry)
        except Exception as error:
            return render({"event": f"a log entry could not be rendered: {type(error).__name__}", "level": "error"})

    return surely


def _json(_logger: Any, _method: str, entry: Entry) -> str:
    first = {key: entry[key] for key in ("timestamp", "level", "event") if key in entry}
    return msgspec.json.encode(first | dict(entry)).decode()


def _notice(count: int) -> Entry:
    return {"event": f"{count} log lines were dropped: whoever reads this log is too slow", "level": "warning"}
