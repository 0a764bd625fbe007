"""Which files of a workspace a file imports.

No settings of any tool are read, so where a language's roots are is told by what fits: the import's path is looked for
at the end of the workspace's paths, and of several that fit, the nearest to the importing file is meant. What fits
nowhere is someone else's library.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from posixpath import dirname, normpath

Imports = Mapping[str, tuple[str, Sequence[str]]]
"""By path: the language, and the imports as they are written."""

MOST_OF_FOLDER = 40
"""Files that one import of a folder (a package of Go, of Java) leads to."""
_MOST_FITTING = 200
_STANDARD = sys.stdlib_module_names
_SCRIPTS = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".mts",
    ".cts",
    ".vue",
    ".svelte",
    ".json",
    ".css",
    ".scss",
)
_INDEXES = tuple(f"/index{ending}" for ending in _SCRIPTS)


def resolved(files: Imports) -> dict[str, tuple[str, ...]]:
    """For each file that imports others of these, which; none of them itself."""
    ways = _Ways(files)
    found = {}
    for path, (language, imports) in files.items():
        way = ways.of(language)
        if way is None or not imports:
            continue
        targets: dict[str, None] = {}
        for each in imports:
            for target in way(path, each):
                if target != path:
                    targets[target] = None
        if targets:
            found[path] = tuple(targets)
    return found


class _Ways:
    def __init__(self, files: Imports) -> None:
        self._files = files
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self._in_folder: dict[str, list[str]] = defaultdict(list)
        self._ends: dict[str, Sequence[str]] = {}
        self._folder_ends: dict[str, list[str]] = defaultdict(list)
        for path in files:
            folder, _, name = path.rpartition("/")
            self._by_name[name].append(path)
            self._in_folder[folder].append(path)
        for folder in self._in_folder:
            self._folder_ends[folder.rpartition("/")[2]].append(folder)
        self._modules: dict[str, list[str]] | None = None
        self._go_modules: frozenset[str] | None = None
        self._ways: Mapping[str, Callable[[str, str], Iterable[str]]] = {
            "python": self._python,
            **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte"), self._script),
            **dict.fromkeys(("c", "cpp", "objective_c"), self._include),
            "go": self._go,
            "rust": self._rust,
            **dict.fromkeys(("java", "kotlin", "scala", "groovy"), self._java),
            "c_sharp": self._c_sharp,
            "ruby": self._ruby,
            "php": self._php,
            **dict.fromkeys(("css", "less"), self._css),
            **dict.fromkeys(("html", "template"), self._html),
            "bash": self._beside,
        }

    def of(self, language: str) -> Callable[[str, str], Iterable[str]] | None:
        return self._ways.get(language)

    # -- what all use

    def _there(self, *paths: str) -> Iterator[str]:
        """The first of these that is a file."""
        for path in paths:
            if path in self._files:
                yield path
                return

    def _ending(self, path: str, end: str) -> Iterator[str]:
        """The nearest file whose path ends so."""
        end = end.strip("/")
        fitting = self._ends.get(end)
        if fitting is None:
            behind = f"/{end}"
            fitting = self._ends[end] = [
                each for each in self._by_name.get(end.rpartition("/")[2], ()) if each == end or each.endswith(behind)
            ][:_MOST_FITTING]
        if fitting:
            yield nearest(path, fitting)

    def _folder_ending(self, path: str, end: str) -> Iterator[str]:
        behind = f"/{end}"
        fitting = [
            each for each in self._folder_ends.get(end.rpartition("/")[2], ()) if each == end or each.endswith(behind)
        ][:_MOST_FITTING]
        if fitting:
            yield nearest(path, fitting)

    # -- Python

    def _python(self, path: str, name: str) -> Iterator[str]:
        if name.startswith("."):
            rest = name.lstrip(".")
            folder = dirname(path)
            for _ in range(len(name) - len(rest) - 1):
                folder = dirname(folder)
            parts = rest.split(".") if rest else []
            for count in range(len(parts), -1, -1):
                base = "/".join([*([folder] if folder else []), *parts[:count]])
                if (found := next(self._there(*_module_files(base)), None)) is not None:
                    yield found
                    return
            return
        if self._modules is None:
            self._modules = self._python_modules()
        top = name.partition(".")[0]
        while name:
            fitting = self._modules.get(name)
            if fitting:
                found = nearest(path, fitting)
                depth = name.count(".") + 1 + found.endswith("/__init__.py")
                root = found.rsplit("/", depth)[0] if found.count("/") >= depth else ""
                if top not in _STANDARD or not root or path.startswith(f"{root}/"):
                    yield found
                return
            name = name.rpartition(".")[0]

    def _python_modules(self) -> dict[str, list[str]]:
        """By the names under which a file can be imported: from the folder above its outermost package, and from those
        above, since a package needs no __init__.py."""
        modules: dict[str, list[str]] = defaultdict(list)
        for path, (language, _) in self._files.items():
            if language != "python":
                continue
            stem = path.rpartition(".")[0].removesuffix("/__init__")
            parts = stem.split("/")
            at = len(parts) - 1
            while at > 0 and "/".join([*parts[:at], "__init__.py"]) in self._files:
                at -= 1
            for begin in range(at, max(at - 6, -1), -1):
                modules[".".join(parts[begin:])].append(path)
        return modules

    # -- JavaScript and TypeScript

    def _script(self, path: str, name: str) -> Iterator[str]:
        if name.startswith("."):
            base = _joined(dirname(path), name)
            if base is not None:
                yield from self._there(*_script_files(base))
            return
        bare = name.removeprefix("@/").removeprefix("~/").removeprefix("#/").lstrip("/")
        if bare != name or "/" in bare:
            for end in _script_files(bare):
                if (found := next(self._ending(path, end), None)) is not None:
                    yield found
                    return
        package = name.rpartition("/")[2] if name.startswith("@") else name.partition("/")[0]
        for room in ("packages", "libs", "apps", "modules"):
            for folder in self._folder_ending(path, f"{room}/{package}"):
                yield from self._there(*(f"{folder}{end}" for end in _INDEXES))
            for folder in self._folder_ending(path, f"{room}/{package}/src"):
                yield from self._there(*(f"{folder}{end}" for end in _INDEXES))

    # -- C

    def _include(self, path: str, name: str) -> Iterator[str]:
        target = name[1:-1]
        beside = _joined(dirname(path), target)
        if name.startswith('"') and beside is not None and beside in self._files:
            yield beside
        elif name.startswith('"') or "/" in target or target.endswith((".hpp", ".hh")):
            yield from self._ending(path, target.lstrip("./"))

    # -- Go

    def _go(self, path: str, name: str) -> Iterator[str]:
        if self._go_modules is None:
            self._go_modules = self._go_prefixes()
        parts = name.split("/")
        for begin in range(len(parts)):
            if "/".join(parts[:begin]) not in self._go_modules:
                continue
            folder = next(self._folder_ending(path, "/".join(parts[begin:])), None)
            if folder is not None:
                yield from [
                    each for each in self._in_folder[folder] if each.endswith(".go") and not each.endswith("_test.go")
                ][:MOST_OF_FOLDER]
                return
        if name in self._go_modules:
            yield from [each for each in self._in_folder[""] if each.endswith(".go") and not each.endswith("_test.go")]

    def _go_prefixes(self) -> frozenset[str]:
        """What imports of this workspace's own packages begin with: the beginning that makes most of them fit."""
        votes: Counter[str] = Counter()
        ours = {dirname(path) for path, (language, _) in self._files.items() if language == "go"}
        for language, imports in self._files.values():
            if language == "go":
                for name in imports:
                    parts = name.split("/")
                    for begin in range(1, len(parts)):
                        end = "/".join(parts[begin:])
                        if end in ours or any(
                            each.endswith(f"/{end}") for each in self._folder_ends.get(parts[-1], ())[:20]
                        ):
                            votes["/".join(parts[:begin])] += 1
                            break
        if any("." in prefix.partition("/")[0] for prefix in votes):  # then those without are the standard library's
            votes = Counter({prefix: count for prefix, count in votes.items() if "." in prefix.partition("/")[0]})
        most = max(votes.values(), default=0)
        return frozenset(prefix for prefix, count in votes.items() if count * 10 >= most)

    # -- Rust

    def _rust(self, path: str, name: str) -> Iterator[str]:
        folder, stem = dirname(path), path.rpartition("/")[2].removesuffix(".rs")
        own = folder if stem in ("mod", "lib", "main") else _joined(folder, stem) or stem
        if name.startswith("mod:"):
            module = name.removeprefix("mod:")
            yield from self._there(
                *(f"{base}/{module}{end}".lstrip("/") for base in (own, folder) for end in (".rs", "/mod.rs"))
            )
            return
        first, *rest = name.split("::")
        if first == "crate":
            base: str | None = self._crate(folder)
        elif first == "self":
            base = own
        elif first == "super":
            base = dirname(own)
            while rest[:1] == ["super"]:
                base, rest = dirname(base), rest[1:]
        else:
            base = next(
                (
                    found
                    for crate in (first, first.replace("_", "-"))
                    for found in self._folder_ending(path, f"{crate}/src")
                ),
                None,
            )
            if base is None:  # of the 2015 edition, or a module beside
                base, rest = own, [first, *rest]
        if base is None:
            return
        for count in range(len(rest), 0, -1):
            whole = "/".join([*([base] if base else []), *rest[:count]])
            if (found := next(self._there(f"{whole}.rs", f"{whole}/mod.rs"), None)) is not None:
                yield found
                return
        if first not in ("self", "super"):
            yield from self._there(f"{base}/lib.rs", f"{base}/main.rs")

    def _crate(self, folder: str) -> str | None:
        while True:
            base = f"{folder}/" if folder else ""
            if f"{base}lib.rs" in self._files or f"{base}main.rs" in self._files:
                return folder
            if not folder:
                return None
            folder = dirname(folder)

    # -- Java, C#, PHP

    def _java(self, path: str, name: str) -> Iterator[str]:
        parts = name.split(".")
        if parts[-1] == "*":
            for folder in self._folder_ending(path, "/".join(parts[:-1])):
                yield from [each for each in self._in_folder[folder] if each.endswith((".java", ".kt", ".scala"))][
                    :MOST_OF_FOLDER
                ]
            parts = parts[:-1]
        while len(parts) > 1:
            for ending in (".java", ".kt", ".scala", ".groovy"):
                if (found := next(self._ending(path, "/".join(parts) + ending), None)) is not None:
                    yield found
                    return
            parts = parts[:-1]

    def _c_sharp(self, path: str, name: str) -> Iterator[str]:
        parts = name.split(".")
        for begin in range(len(parts)):
            rest = parts[begin:]
            if begin and len(rest) < 2 and parts[0] in ("System", "Microsoft"):
                return
            for end in ("/".join(rest), ".".join(rest)):
                folder = next(self._folder_ending(path, end), None)
                if folder is not None:
                    yield from [each for each in self._in_folder[folder] if each.endswith(".cs")][:MOST_OF_FOLDER]
                    return

    def _php(self, path: str, name: str) -> Iterator[str]:
        if "\\" not in name:
            yield from self._beside(path, name)
            return
        parts = name.split("\\")
        for begin in range(max(len(parts) - 1, 1)):
            if (found := next(self._ending(path, "/".join(parts[begin:]) + ".php"), None)) is not None:
                yield found
                return

    # -- by paths

    def _ruby(self, path: str, name: str) -> Iterator[str]:
        target = name if name.endswith(".rb") else f"{name}.rb"
        if name.startswith("."):
            beside = _joined(dirname(path), target)
            yield from self._there(*([beside] if beside is not None else []))
        else:
            yield from self._there(*(f"{room}{target}" for room in ("lib/", "")))
            yield from self._ending(path, f"lib/{target}")
            if "/" in target:
                yield from self._ending(path, target)

    def _css(self, path: str, name: str) -> Iterator[str]:
        folder, _, last = name.rpartition("/")
        names = [f"{folder}/{each}" if folder else each for each in (last, f"_{last}")]
        for each in names:
            for ending in ("", ".css", ".scss", ".sass", ".less"):
                beside = _joined(dirname(path), each + ending)
                if beside is not None and beside in self._files:
                    yield beside
                    return

    def _html(self, path: str, name: str) -> Iterator[str]:
        if "//" in name or name.startswith(("mailto:", "data:", "javascript:", "{")):
            return
        beside = _joined(dirname(path), name) if not name.startswith("/") else None
        if beside is not None and beside in self._files:
            yield beside
        elif "." in name.rpartition("/")[2]:
            yield from self._ending(path, name)

    def _beside(self, path: str, name: str) -> Iterator[str]:
        beside = _joined(dirname(path), name) if not name.startswith("/") else None
        if beside is not None and beside in self._files:
            yield beside
        elif "$" not in name and "/" in name:
            yield from self._ending(path, name.lstrip("./"))


def nearest(path: str, fitting: Sequence[str]) -> str:
    """The one that shares most folders with the path; then the one that is least deep; then the first by name."""
    if len(fitting) == 1:
        return fitting[0]
    here = path.split("/")[:-1]

    def distance(each: str) -> tuple[int, int, str]:
        parts = each.split("/")
        shared = 0
        for mine, theirs in zip(here, parts[:-1], strict=False):
            if mine != theirs:
                break
            shared += 1
        return -shared, len(parts), each

    return min(fitting, key=distance)


def _module_files(base: str) -> tuple[str, ...]:
    if not base:
        return ("__init__.py",)
    return f"{base}.py", f"{base}/__init__.py", f"{base}.pyi", f"{base}/__init__.pyi", f"{base}.pyx"


def _script_files(base: str) -> list[str]:
    """The files that a path without or with an ending may mean, the likeliest first."""
    found = [base, *(base + ending for ending in _SCRIPTS), *(base + end for end in _INDEXES)]
    for written, meant in (
        (".js", (".ts", ".tsx", ".jsx")),
        (".mjs", (".mts",)),
        (".cjs", (".cts",)),
        (".jsx", (".tsx",)),
    ):
        if base.endswith(written):
            found += [base.removesuffix(written) + ending for ending in meant]
    return found


def _joined(folder: str, name: str) -> str | None:
    """None: it leads out of the workspace."""
    path = normpath(f"{folder}/{name}" if folder else name)
    return None if path.startswith(("..", "/")) or path == "." else path
