"""Shows in one line how far many requests have got: a bar, and figures after it. As the terminal narrows, the bar
shrinks first, and then the last figures are left out."""

from msgspec import Struct

from codec.words import counted
from program.terminal import cells, fitted

WIDEST, NARROWEST = 40, 8
_EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, FAILED, EMPTY = "█", "▒", "░"


class Progress(Struct, frozen=True):
    total: int
    succeeded: int
    failed: int
    seconds: float = 0.0
    """Since we began to look."""
    since: int = 0
    """Of those that are over, those that ended since."""

    @property
    def over(self) -> int:
        return self.succeeded + self.failed

    @property
    def rate(self) -> float:
        return self.since / self.seconds if self.seconds > 0 else 0.0


def bar(progress: Progress, width: int) -> str:
    """Answers, then failures, then what is under way. Whatever there is of one is seen."""
    total = max(progress.total, progress.over, 1)
    failed = -(-progress.failed * width // total)
    eighths = min(progress.succeeded * width * 8 // total, (width - failed) * 8)
    full, part = divmod(eighths, 8)
    drawn = FULL * full + (_EIGHTHS[part] if part and full + failed < width else "") + FAILED * failed
    return drawn + EMPTY * (width - len(drawn))


def line(progress: Progress, width: int) -> str:
    total = max(progress.total, progress.over)
    percent = 100 * progress.over // total if total else 0
    under_way = total - progress.over
    figures = [f"{percent:3} %", f"{progress.succeeded:,} of {total:,} answered"]
    if progress.failed:
        figures.append(f"{progress.failed:,} failed")
    if under_way:
        figures.append(f"{under_way:,} under way")
    if under_way and progress.rate > 0:
        figures += [f"{progress.rate:.1f}/s", f"about {_lasting(under_way / progress.rate)} left"]
    while len(figures) > 2 and cells("  ".join(figures)) + NARROWEST + 2 > width:
        figures.pop()
    text = "  ".join(figures)
    room = min(WIDEST, width - cells(text) - 2)
    return f"{bar(progress, room)}  {text}" if room >= NARROWEST else fitted(text, width).rstrip()


def summary(progress: Progress) -> str:
    said = f"{counted(progress.total, 'request')}: {progress.succeeded:,} answered"
    if progress.failed:
        said += f", {progress.failed:,} failed"
    under_way = progress.total - progress.over
    return f"{said}, {under_way:,} under way" if under_way > 0 else said


def _lasting(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.0f} h"
