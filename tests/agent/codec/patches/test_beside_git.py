"""What `git apply` makes of a patch is what is made of it here, where both do it; and git reads what is made here."""

import subprocess
from pathlib import Path
from random import Random

import pytest

from codec.agent.patches import applied, made_diff, parse_diff
from tests.agent.codec.patches.drawn import Drawing
from tests.agent.codec.patches.test_never_wrong import DONE

pytestmark = pytest.mark.slow


def git(folder: Path, *words: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    return subprocess.run(["git", *words], cwd=folder, input=text, capture_output=True, env=environment)


def test_what_git_accepts_is_done_alike_or_refused(tmp_path: Path) -> None:
    both = 0
    for seed in range(120):
        drawing = Drawing(f"git {seed}", twins=False)
        if not drawing.edits or not drawing.original:
            continue
        now = drawing.moved(drawing.original, seed % 3)
        base = "".join(f"{line.text}\n" for line in now).encode()
        diff = drawing.diff(marks=True)
        (tmp_path / "x").write_bytes(base)
        theirs = git(tmp_path, "apply", "-", text=diff.encode())
        mine = applied(base, parse_diff(diff)[0])
        if theirs.returncode == 0 and {each.outcome for each in mine.outcomes} <= DONE:
            assert mine.data == (tmp_path / "x").read_bytes(), (seed, diff, base)
            both += 1
    assert both > 50


def test_git_applies_what_is_made_here(tmp_path: Path) -> None:
    draw = Random(7)
    for number in range(60):
        before, after = (
            "".join(draw.choice(["a", "b", "", "}", "é", "-- x"]) + draw.choice(["\n", "\n", "\r\n"]) for _ in range(9))
            for _ in range(2)
        )
        after = draw.choice([after, before[: len(before) // 2] + after[:6] + before[len(before) // 2 :]])
        if number % 3 == 0:
            after = after.rstrip("\r\n")
        path = draw.choice(["x", "my file.txt", 'a"b.txt', "é.txt", "folder/x"])
        made = made_diff(path, before.encode(), after.encode())
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(before.encode())
        if before.encode() != after.encode():
            done = git(tmp_path, "apply", "--unidiff-zero", "--whitespace=nowarn", "-", text=made.diff.encode())
            assert done.returncode == 0, (made.diff, done.stderr)
        assert place.read_bytes() == after.encode()


def test_gits_own_diffs_are_read_and_applied(tmp_path: Path) -> None:
    assert git(tmp_path, "init", "-q").returncode == 0
    files: dict[str, tuple[bytes | None, bytes | None]] = {
        "changed.txt": (b"a\nb\nc\n", b"a\nB\nc\n"),
        "crlf.txt": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
        "no newline": (b"a\nb", b"a\nc\nd"),
        "gains one": (b"a\nb", b"a\nb\n"),
        "new": (None, b"x\ny"),
        "empty": (None, b""),
        "gone": (b"x\n", None),
        'odd"\t\xc3\xa9'.encode().decode(): (b"1\n", b"2\n"),
        "-- dashes": (b"-- a\n-- b\n", b"++ a\n-- b\n"),
    }
    for name, (before, _) in files.items():
        if before is not None:
            (tmp_path / name).write_bytes(before)
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x")
    for name, (_, after) in files.items():
        if after is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(after)
    git(tmp_path, "add", "-A")
    diff = git(tmp_path, "-c", "core.autocrlf=false", "diff", "--no-renames", "HEAD").stdout.decode()
    patches = {patch.path: patch for patch in parse_diff(diff)}
    assert set(patches) == set(files)
    for name, (before, after) in files.items():
        assert applied(before, patches[name]).data == after, name
