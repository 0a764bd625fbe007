"""Which files are likely the tests of a source file: by their names, and by how near they are."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_SIGN = re.compile(r"(?i:(?:^|[._-])(?:tests?|specs?)(?:[._-]|$))|(?<=[a-z0-9])(?:Tests?|Spec|IT)$")
_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "testing"})


def is_test(path: str) -> bool:
    """By its name, or by the folder that it is in."""
    pure = PurePosixPath(path)
    return _SIGN.search(_stem(pure)) is not None or any(part.lower() in _FOLDERS for part in pure.parts[:-1])


def likely_tests(path: str, files: Iterable[str], most: int = 5) -> tuple[str, ...]:
    """The likeliest first. A test file's own tests are itself."""
    source = PurePosixPath(path)
    if is_test(path):
        return (path,)
    name = _bare(source)
    scored = []
    for each in files:
        test = PurePosixPath(each)
        if each == path or test.suffix[1:3] != source.suffix[1:3] or not is_test(each):
            continue
        bare = _bare(test)
        if bare == name:
            score = 100
        elif bare.startswith(name) or bare.endswith(name):
            score = 50
        else:
            continue
        score += 5 * len(set(test.parts[:-1]) & set(source.parts[:-1])) + (10 if test.parent == source.parent else 0)
        scored.append((-score, each))
    return tuple(each for _, each in sorted(scored)[:most])


def _stem(path: PurePosixPath) -> str:
    return path.name.removesuffix(path.suffix)


def _bare(path: PurePosixPath) -> str:
    """The name without what makes it a test: test_login.py, login.test.ts and LoginTest.java are all login."""
    return re.sub(r"[._-]+", "", _SIGN.sub("", _stem(path))).lower()
