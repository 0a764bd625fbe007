"""Which commands run a workspace's own tests, as far as the files in its root tell. Each is exactly these words."""

import json
import re
from collections.abc import Collection, Mapping

TELLING = ("package.json", "Makefile", "makefile", "GNUmakefile", "pyproject.toml", "setup.cfg", "tox.ini", "Justfile")
"""Files whose texts tell more than their names."""
_TARGET = re.compile(r"(?m)^(test|tests|check)\s*:(?!=)")
_PYTEST = re.compile(r"(?m)^\[(?:tool\.pytest(?:\.ini_options)?|tool:pytest|pytest)\]|\bpytest\b")
_NOT_WRITTEN = "no test specified"
"""What npm puts there until somebody writes a test."""


def detected_tests(names: Collection[str], texts: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The likeliest first. `names`: of what is in the root, folders with a / at the end; `texts`: of the files in
    TELLING that are there."""
    found = list[tuple[str, ...]]()
    config = "\n".join(texts.get(name, "") for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
    has_python = any(name.endswith(".py") or name in ("pyproject.toml", "setup.py", "setup.cfg") for name in names)
    if {"pytest.ini", "conftest.py"} & set(names) or _PYTEST.search(config) or (has_python and "tests/" in names):
        found += [("pytest",), ("python", "-m", "pytest"), ("python3", "-m", "pytest"), ("pytest", "-q")]
    if "tox.ini" in names:
        found.append(("tox",))
    if "package.json" in names and (runner := _node(names, texts.get("package.json", ""))) is not None:
        found += [(runner, "test"), (runner, "run", "test")]
    if "Cargo.toml" in names:
        found.append(("cargo", "test"))
    if "go.mod" in names:
        found += [("go", "test", "./..."), ("go", "test")]
    if "gradlew" in names:
        found.append(("./gradlew", "test"))
    if "pom.xml" in names:
        found.append(("./mvnw", "test") if "mvnw" in names else ("mvn", "test"))
    if "mix.exs" in names:
        found.append(("mix", "test"))
    if any(name.endswith((".sln", ".csproj", ".fsproj")) for name in names):
        found.append(("dotnet", "test"))
    for name in ("Makefile", "makefile", "GNUmakefile"):
        found += [("make", target[1]) for target in _TARGET.finditer(texts.get(name, ""))]
    found += [("just", target[1]) for target in _TARGET.finditer(texts.get("Justfile", ""))]
    return tuple(dict.fromkeys(found))


def _node(names: Collection[str], text: str) -> str | None:
    try:
        script = json.loads(text)["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(script, str) or not script.strip() or _NOT_WRITTEN in script:
        return None
    if "pnpm-lock.yaml" in names:
        return "pnpm"
    return "yarn" if "yarn.lock" in names else "npm"
