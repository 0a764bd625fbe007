"""The limits of time and memory, from the problem's own limits and the settings.

A problem's time limit is meant for the site's machine, so we add a fifth. CPU time decides. Wall time only ends
programs that use no CPU time, and does not count while a program waits for a processor.
"""

from msgspec import Struct

from codec.judge import RunSettings

DEFAULT_TIME_LIMIT = 2_000
"""Milliseconds, for a problem without a limit."""
DEFAULT_MEMORY_LIMIT = 1_024
"""MB, for a problem without a limit, as Competitive Companion has it. Without one a program that never stops asking for
memory would take all of the machine's. The setting 0 lifts it."""
LONGEST = 3_600_000
PATIENCE = 3
"""Wall time, as a multiple of the allowed CPU time..."""
LEAST_PATIENCE = 1_000
"""...and at least this many milliseconds more than it."""


class CaseLimits(Struct, frozen=True):
    cpu_ms: int
    wall_ms: int
    memory_kb: int | None
    """None: unlimited."""


def time_limit(given: int | None) -> int:
    """The problem's own limit, as it is shown. Null and zero mean that it has none."""
    return min(given, LONGEST) if given and given > 0 else DEFAULT_TIME_LIMIT


def memory_limit(given: int | None) -> int:
    """The problem's own limit, as it is shown. Null and zero mean that it has none."""
    return given if given and given > 0 else DEFAULT_MEMORY_LIMIT


def limits(settings: RunSettings, given_time_limit: int | None, given_memory_limit: int | None) -> CaseLimits:
    """For one run of one case. The given limits are the problem's, in milliseconds and MB."""
    cpu = settings.timeout_ms or _and_a_fifth(time_limit(given_time_limit))
    memory = _memory(settings.memory_limit_mb, given_memory_limit)
    return CaseLimits(cpu, max(cpu * PATIENCE, cpu + LEAST_PATIENCE), memory)


def _and_a_fifth(milliseconds: int) -> int:
    return -(-milliseconds * 6 // 5)


def _memory(setting: int | None, given: int | None) -> int | None:
    megabytes = memory_limit(given) if setting is None else setting
    return megabytes * 1024 or None
