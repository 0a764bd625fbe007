"""What a file imports, as its language writes it; resolving.py says which files are meant.

    Python      a.b  ..a.b        from a.b import c is a.b.c: whether c is a module or a name in one, the files say
    JavaScript  ./a  pkg/b        import, export from, require, import()
    Go          path/of/package
    Rust        crate::a::b  mod:a
    Java, C#    a.b.C  a.b.*
    C, C++      <stdio.h>  "a/b.h"
    Ruby        a/b  ./a          require, require_relative
    PHP         A\\B  ./a.php      use, require
    CSS, HTML   ./a.css           @import, src, href
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

MOST = 500
_LONGEST = 300

_PYTHON = re.compile(
    r"[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^)]{0,8000}\)|[^\n;#]*(?:\\\r?\n[^\n;#]*)*)"
    r"|import[ \t]+([^\n;#]+))"
)
_AS = re.compile(r"\s+as\s+\w+|#[^\n]*|[()\\]")
_DOTTED = re.compile(r"[\w.]+")


def _python(text: str) -> Iterator[str]:
    for statement in _python_statements(text):
        source, names, modules = statement.groups("")
        if source:
            base = source if source.endswith(".") else f"{source}."
            for name in _AS.sub("", names).split(","):
                name = name.strip()
                if name == "*":
                    yield source
                elif name.isidentifier():
                    yield base + name
        else:
            for name in _AS.sub("", modules).split(","):
                name = name.strip()
                if _DOTTED.fullmatch(name) is not None:
                    yield name


def _python_statements(text: str) -> Iterator[re.Match[str]]:
    """Each line that has the word is looked at: much faster than a pattern that is tried at each line."""
    at = text.find("import")
    while at >= 0:
        least = max(at - _LONGEST, 0)
        begin = max(text.rfind("\n", least, at), text.rfind(";", least, at)) + 1
        at += 6
        found = _PYTHON.match(text, begin)
        if found is not None:
            yield found
            at = max(at, found.end())
        at = text.find("import", at)


_SCRIPT = re.compile(
    r"""\bfrom\s*["']([^"'\n]+)["']|\b(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]|\bimport\s+["']([^"'\n]+)["']"""
)
_GO_BLOCK = re.compile(r"(?m)^import\s*(?:\(([^)]*)\)|(?:[\w.]+\s+)?(\"[^\"\n]+\"|`[^`\n]+`))")
_QUOTED = re.compile(r"[\"`]([^\"`\n]+)[\"`]")


def _any_of(pattern: re.Pattern[str]) -> Callable[[str], Iterator[str]]:
    def found(text: str) -> Iterator[str]:
        for groups in pattern.findall(text):
            yield groups if isinstance(groups, str) else next((each for each in groups if each), "")

    return found


def _go(text: str) -> Iterator[str]:
    for block, one in _GO_BLOCK.findall(text):
        yield from _QUOTED.findall(re.sub(r"//[^\n]*", "", block) or one)


_RUST = re.compile(r"(?m)^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use[ \t]+([^;]{1,2000});|mod[ \t]+(\w+)[ \t]*;)")


def _rust(text: str) -> Iterator[str]:
    for used, module in _RUST.findall(text):
        if module:
            yield f"mod:{module}"
        else:
            yield from rust_paths(re.sub(r"//[^\n]*|\s+as\s+\w+", "", used))


def rust_paths(tree: str, most: int = 200) -> list[str]:
    """a::{b, c::{d, e}} is a::b, a::c::d and a::c::e."""
    found: list[str] = []
    prefixes = [""]
    word = ""
    for sign in "".join(tree.split()):
        if len(found) >= most:
            break
        if sign == "{":
            prefixes.append(prefixes[-1] + word)
            word = ""
        elif sign in ",}":
            if word:
                found.append(prefixes[-1] + word)
            word = ""
            if sign == "}" and len(prefixes) > 1:
                prefixes.pop()
        else:
            word += sign
    if word:
        found.append(prefixes[-1] + word)
    return [path.removesuffix("::self").removesuffix("::*").strip(":") for path in found if len(path) <= _LONGEST]


_JAVA = re.compile(r"(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?(\w+(?:\.\w+)*(?:\.[*_](?!\w))?)")
_JAVA_PACKAGE = re.compile(r"(?m)^[ \t]*package[ \t]+([\w.]+)")
_C_SHARP = re.compile(
    r"(?m)^[ \t]*(?:global[ \t]+)?using[ \t]+(?:static[ \t]+)?(?:\w+[ \t]*=[ \t]*)?([A-Za-z_][\w.]*)[ \t]*;"
)
_C = re.compile(r"(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*(<[^>\n]+>|\"[^\"\n]+\")")
_RUBY = re.compile(r"(?m)^[ \t]*(require_relative|require|load|autoload[ \t]*\(?:\w+,)[ \t(]*[\"']([^\"'\n]+)[\"']")
_PHP = re.compile(
    r"(?m)^[ \t]*use[ \t]+(?:function[ \t]+|const[ \t]+)?"
    r"([\w\\]+(?:\{[^}]{0,2000}\}|(?:\s+as\s+\w+)?(?:\s*,\s*[\w\\]+(?:\s+as\s+\w+)?){0,100}))|"
    r"\b(?:require|include)(?:_once)?\b[^;\n\"']{0,80}[\"']([^\"'\n]+)[\"']"
)
_CSS = re.compile(r"@(?:import|use|forward)\s+(?:url\(\s*)?[\"']?([^\"'();\s]+)")
_HTML = re.compile(r"""(?i)<(?:script|link|img|iframe|source|a)\b[^>]{0,500}?\b(?:src|href)\s*=\s*["']([^"'\n#?]+)""")
_TEMPLATE = re.compile(r"""\{%-?\s*(?:extends|include|import|from)\s+["']([^"'\n]+)["']""")
_BASH = re.compile(
    r"(?m)(?:^|&&|\|\||;|\bthen\b|\bdo\b)[ \t]*(?:source|\.)[ \t]+"
    r"((?:\"(?:[^\"\n$]|\$(?!\()|\$\([^)\n]*\))*\"|'[^'\n]*'|\$\([^)\n]*\)|[^\s\"';&|])+)"
)
_BEHIND_VALUES = re.compile(r"(?:[)}`]|\$\w+)[\"']*/([^\s$(){}`]+)$")


def _ruby(text: str) -> Iterator[str]:
    for how, what in _RUBY.findall(text):
        yield f"./{what}" if how == "require_relative" and not what.startswith(".") else what


def _php(text: str) -> Iterator[str]:
    for used, file in _PHP.findall(text):
        if file:
            yield f"./{file.lstrip('./')}" if file.startswith(("/", ".")) else file
        else:
            base, brace, names = used.partition("{")
            for name in (names.rstrip("}") if brace else used).split(","):
                if words := name.split():
                    yield (base + words[0] if brace else words[0]).lstrip("\\")


def _bash(text: str) -> Iterator[str]:
    """source "$(dirname "$0")/lib/a.sh" means some lib/a.sh: what a value is, only a run would tell."""
    for word in _BASH.findall(text):
        word = word.rstrip("\"'").lstrip("\"'")
        if "$" not in word and "`" not in word:
            yield word
        elif (known := _BEHIND_VALUES.search(word)) is not None:
            yield "./" + known[1].replace('"', "").replace("'", "")


def _html(text: str) -> Iterator[str]:
    yield from _HTML.findall(text)
    yield from _TEMPLATE.findall(text)


_script = _any_of(_SCRIPT)
_FINDERS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte"), _script),
    "go": _go,
    "rust": _rust,
    **dict.fromkeys(("java", "kotlin", "scala", "groovy"), _any_of(_JAVA)),
    "c_sharp": _any_of(_C_SHARP),
    **dict.fromkeys(("c", "cpp", "objective_c"), _any_of(_C)),
    "ruby": _ruby,
    "php": _php,
    **dict.fromkeys(("css", "less"), _any_of(_CSS)),
    **dict.fromkeys(("html", "template"), _html),
    "bash": _bash,
}


def imports_of(language: str, text: str) -> tuple[str, ...]:
    """Each once, in the order in which they are first found."""
    finder = _FINDERS.get(language)
    if finder is None:
        return ()
    found: dict[str, None] = {}
    for each in finder(text):
        if each and len(each) <= _LONGEST:
            found[each] = None
            if len(found) >= MOST:
                break
    return tuple(found)
