"""Programs that behave: what they are given, what they give, and how it is told."""

import os
import resource
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from codec.programs import Exited, Signalled, Stream
from tests.transports.process.house import PATIENCE, PYTHON, Processes, open_launcher
from transports.process.keepers import TooManyPrograms
from transports.process.run import NotStarted

MIB = 1024 * 1024


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    async with open_launcher(tmp_path) as processes:
        yield processes


async def test_a_program_is_given_its_arguments_its_input_its_folder_and_nothing_but_its_environment(
    processes: Processes,
) -> None:
    source = "import os, sys; print(sys.argv[1:], os.getcwd(), sorted(os.environ), input())"
    outcome = await processes.run([*PYTHON, source, "a b", "", "é"], stdin=b"line\n")
    given = sorted({"PATH", "MARK", "LC_CTYPE"} if "LC_CTYPE" in outcome.stdout.head.decode() else {"PATH", "MARK"})
    assert outcome.stdout.head.decode() == f"{['a b', '', 'é']} {processes.folder} {given} line\n"


async def test_how_a_program_ended_is_told(processes: Processes) -> None:
    assert (await processes.run(["/bin/sh", "-c", "exit 3"])).end == Exited(3)
    outcome = await processes.run(["/bin/sh", "-c", "kill -SEGV $$"])
    assert outcome.end == Signalled(signal.SIGSEGV)
    assert outcome.stopped_for is None


async def test_output_and_error_output_are_kept_apart_and_in_full(processes: Processes) -> None:
    outcome = await processes.run(["/bin/sh", "-c", "echo out; echo err >&2"])
    assert (outcome.stdout.head, outcome.stderr.head) == (b"out\n", b"err\n")
    assert (outcome.stdout.total, outcome.stdout.tail, outcome.stdout.lost) == (4, b"", 0)


async def test_output_need_not_be_text(processes: Processes) -> None:
    outcome = await processes.run(["/usr/bin/printf", r"\377\376\000\200"])
    assert outcome.stdout.head == b"\xff\xfe\0\x80"


async def test_a_program_without_input_reads_its_end(processes: Processes) -> None:
    assert (await processes.run(["/bin/cat"])).stdout.total == 0


async def test_an_input_of_any_size_is_fed_while_the_output_is_drained(processes: Processes) -> None:
    data = os.urandom(3 * MIB)
    outcome = await processes.run(["/bin/cat"], stdin=data, output_bytes=4 * MIB)
    assert outcome.stdout.head == data


async def test_a_file_as_input_is_read_by_the_program_itself(processes: Processes) -> None:
    path = processes.folder / "1.in"
    path.write_bytes(b"from a file\n")
    outcome = await processes.run(["/bin/sh", "-c", "readlink /proc/self/fd/0; cat"], stdin=path)
    assert outcome.stdout.head == f"{path}\n".encode() + b"from a file\n"


async def test_what_a_program_wrote_in_pieces_that_keep_apart_is_kept_in_full(processes: Processes) -> None:
    source = "import os\nfrom fcntl import *\nfcntl(1, F_SETPIPE_SZ, 1 << 20); fcntl(1, F_SETFL, os.O_DIRECT)\n"
    outcome = await processes.python(source + "for _ in range(200): os.write(1, b'x')")
    assert outcome.stdout.head == b"x" * 200


async def test_what_a_program_writes_is_told_as_it_comes(processes: Processes) -> None:
    told: list[tuple[Stream, bytes]] = []
    first = trio.Event()

    def on_output(stream: Stream, data: bytes) -> None:
        told.append((stream, data))
        first.set()

    fifo = processes.folder / "go"
    os.mkfifo(fifo)
    command = processes.command(["/bin/sh", "-c", "echo one; read line < go; echo two >&2"])
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: processes.runner.run(command, on_output=on_output))
            await first.wait()
            assert told == [(Stream.STDOUT, b"one\n")]
            fifo.write_text("\n")
    assert told[1:] == [(Stream.STDERR, b"two\n")]


async def test_a_listener_that_raises_ends_the_run(processes: Processes) -> None:
    def on_output(stream: Stream, data: bytes) -> None:
        raise ValueError("not what I wanted")

    command = processes.command(["/bin/sh", "-c", "echo one; exec sleep 1000"])
    with pytest.raises(ValueError, match="not what I wanted"):
        await processes.runner.run(command, on_output=on_output)
    await processes.gone()


async def test_of_a_long_output_the_beginning_and_the_end_are_kept(processes: Processes) -> None:
    outcome = await processes.run(["/usr/bin/seq", "100000"], output_bytes=1000)
    whole = "".join(f"{number}\n" for number in range(1, 100001)).encode()
    assert outcome.stdout.head == whole[:500]
    assert outcome.stdout.tail == whole[-500:]
    assert outcome.stdout.total == len(whole)
    assert outcome.stdout.lost == len(whole) - 1000


@pytest.mark.slow
async def test_a_hundred_megabytes_can_be_kept_in_full(processes: Processes) -> None:
    argv = ["/usr/bin/head", "-c", str(100 * MIB), "/dev/zero"]
    outcome = await processes.run(argv, output_bytes=128 * MIB, flood_bytes=None)
    assert (len(outcome.stdout.head), outcome.stdout.total) == (100 * MIB, 100 * MIB)


@pytest.mark.slow
async def test_cpu_time_is_that_of_all_processes_also_of_orphans(processes: Processes) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    source = f"""
import os
read, write = os.pipe()
if not os.fork():
    if not os.fork():
        os.setsid()
        exec({burn!r})
        os.write(write, b"done")
        os._exit(0)
    os._exit(0)
os.wait()
os.read(read, 4)
"""
    outcome = await processes.python(source)
    assert outcome.end == Exited(0)
    assert 0.25 < outcome.cpu_seconds < 5


@pytest.mark.slow
async def test_peak_memory_is_the_programs_own_and_not_the_servers(processes: Processes) -> None:
    ballast = bytearray(os.urandom(1) * (150 * MIB))
    large = await processes.python(f"b = bytearray({60 * MIB})\nfor i in range(0, len(b), 4096): b[i] = 1")
    small = await processes.run(["/bin/true"])
    assert len(ballast) == 150 * MIB
    assert 60 * MIB < large.peak_bytes < 90 * MIB
    assert small.peak_bytes < 16 * MIB


@pytest.mark.slow
async def test_a_machine_that_is_busy_is_told(processes: Processes) -> None:
    burn = "import os, time\nos.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    burn += "while time.process_time() < 0.3: pass"
    outcomes = []

    async def one() -> None:
        outcomes.append(await processes.python(burn))

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(one)
    assert sum(outcome.contended for outcome in outcomes) >= 3
    assert all(outcome.cpu_seconds < outcome.wall_seconds for outcome in outcomes)


async def test_signals_do_for_a_program_what_they_do_by_default(processes: Processes) -> None:
    source = "import signal; print([s.name for s in signal.valid_signals() if isinstance(s, signal.Signals) and "
    source += "signal.getsignal(s) is signal.SIG_IGN])"
    outcome = await processes.python(source)
    assert outcome.stdout.head.decode().strip() == str(["SIGPIPE", "SIGXFSZ"])  # which this Python ignores by itself
    outcome = await processes.run(["/bin/sh", "-c", "kill -PIPE $$"])
    assert outcome.end == Signalled(signal.SIGPIPE)


async def test_a_program_has_three_descriptors_and_a_session_of_its_own(processes: Processes) -> None:
    outcome = await processes.run(["/bin/sh", "-c", "ls /proc/$$/fd; cut -d' ' -f1,5,6 /proc/$$/stat"])
    *descriptors, numbers = outcome.stdout.head.decode().splitlines()
    assert descriptors[:3] == ["0", "1", "2"]
    assert len(descriptors) <= 4  # the shell may have opened one
    assert len(set(numbers.split())) == 1


async def test_the_kernel_holds_limits_of_its_own_behind_the_keepers(processes: Processes) -> None:
    argv = ["/bin/sh", "-c", "sleep 0.05; cat /proc/self/limits"]
    outcome = await processes.run(argv, cpu_seconds=1.5, file_bytes=4096)
    limits = [" ".join(line.split()) for line in outcome.stdout.head.decode().splitlines()]
    assert {"Max cpu time 3 3 seconds", "Max file size 4096 4096 bytes", "Max core file size 0 0 bytes"} <= set(limits)


async def test_keepers_are_used_again(processes: Processes) -> None:
    for _ in range(3):
        assert await processes.is_healthy()
    assert (processes.statistics().forked, processes.statistics().running) == (1, 0)


@pytest.mark.slow
async def test_runs_side_by_side_do_not_mix(processes: Processes) -> None:
    async def one(number: int) -> None:
        source = "import sys; data = sys.stdin.read(); sys.stdout.write(data); sys.exit(int(data[:2]))"
        outcome = await processes.python(source, stdin=b"%02d" % number * 50_000)
        assert outcome.end == Exited(number)
        assert outcome.stdout.head == b"%02d" % number * 50_000

    async with trio.open_nursery() as nursery:
        for number in range(12):
            nursery.start_soon(one, number)


async def test_more_programs_than_may_run_at_once_are_refused(tmp_path: Path) -> None:
    async with open_launcher(tmp_path, running=1) as processes, trio.open_nursery() as nursery:
        nursery.start_soon(processes.run, ["/bin/sleep", "1000"])
        await processes.started()
        with pytest.raises(TooManyPrograms, match="1 programs are running, the most allowed"):
            await processes.run(["/bin/true"])
        nursery.cancel_scope.cancel()


async def test_when_there_are_too_many_open_files_only_what_is_to_start_is_refused(processes: Processes) -> None:
    async with processes.one_that_stays():
        with one_more_open_file(), pytest.raises(NotStarted, match="cannot be started: Too many open files"):
            await processes.run(["/bin/true"])
    assert len(processes.lives) == 1


@contextmanager
def one_more_open_file() -> Iterator[None]:
    """That is all that may be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    first_free = os.dup(0)
    os.close(first_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


REFUSALS = [
    (["nowhere-to-be-found"], {}, "'nowhere-to-be-found' cannot be started: it was not found"),
    (["./missing"], {}, "'./missing' cannot be started: it was not found"),
    (["./plain"], {}, "'./plain' cannot be started: it may not be executed (permission denied)"),
    (["./formless"], {}, "'./formless' cannot be started: it is not a program that this machine can run"),
    (["./orphan"], {}, "'./orphan' cannot be started: it was not found; or, if it is a script, the program"),
    ([], {}, "no program is named: the command is empty"),
    (["a\0b"], {}, "cannot be started: 'a\\x00b' has a NUL, which no program can be given"),
    (["/bin/true"], {"stdin": Path("a\0b")}, "b' has a NUL, which no program can be given"),
    (["/bin/echo", "\ud800"], {}, "'\\ud800' has a lone surrogate, which no program can be given"),
    (["/bin/true", "x" * 200_000], {}, "'/bin/true' cannot be started: its arguments and environment have 2001"),
    (["/bin/true"], {"cwd": Path("/no/such/folder")}, "its folder /no/such/folder does not exist"),
    (["/bin/true"], {"cwd": Path("/bin/true")}, "its folder /bin/true is not a folder"),
    (["/bin/true"], {"stdin": Path("/no/such/file")}, "its input /no/such/file cannot be read (No such file"),
    (["/bin/true"], {"stdin": Path("/bin")}, "its input /bin is not a file"),
    (["/bin/true"], {"env": {"A=B": "c"}}, "'A=B' cannot name an environment variable"),
]


@pytest.mark.parametrize(("argv", "fields", "words"), REFUSALS, ids=[words[:60] for _, _, words in REFUSALS])
async def test_what_cannot_be_started_is_said_in_words_and_the_next_run_is_right(
    processes: Processes, argv: list[str], fields: dict[str, object], words: str
) -> None:
    for name, text, mode in [("plain", "", 0o644), ("formless", "\0\1", 0o755), ("orphan", "#!/no/such/sh\n", 0o755)]:
        (processes.folder / name).write_text(text)
        (processes.folder / name).chmod(mode)
    command = replace(processes.command(argv), **fields)
    with pytest.raises(NotStarted) as refused:
        await processes.runner.run(command)
    assert words in str(refused.value)
    assert await processes.is_healthy()


async def test_an_input_that_is_a_pipe_without_a_writer_holds_nothing_up(processes: Processes) -> None:
    os.mkfifo(processes.folder / "fifo")
    with pytest.raises(NotStarted, match="is not a file"):
        await processes.run(["/bin/cat"], stdin=processes.folder / "fifo")


async def test_a_program_that_was_removed_meanwhile_is_not_found(processes: Processes) -> None:
    program = processes.folder / "program"
    program.write_text("#!/bin/sh\necho here\n")
    program.chmod(0o755)
    assert (await processes.run(["./program"])).stdout.head == b"here\n"
    program.unlink()
    with pytest.raises(NotStarted, match="not found"):
        await processes.run(["./program"])
