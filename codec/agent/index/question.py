"""What a question to the index means: its words, the names in it, and what kind of file it is about.

    words      what is looked for in texts: identifiers as they stand, and their parts, without words that carry nothing
    names      what may be defined somewhere. A name is certain if the question writes it as code: in backticks, with a
               call's bracket, dotted, snake_case, CamelCase. Any other word may be a name too, and counts less as one
    joined     what two words in a row may be the name of: an LRU cache is lrucache and lru_cache, in any case
    paths      what looks like a file's name or path
    lines      those of files that it names: where a compiler has found something, or a stack trace leads through
    kinds      tests, docs or examples, if it asks for these: "tests of the parser", "where is X documented". Whoever
               tells of a change ("add tests for X", "fix the docs of X") speaks of the code that is changed
    sole       the only word there is: somebody looks for a name, and may still be typing it. So is the name in the
               beginning of a definition, if that is all there is: "class Connection("

Any text is a question, and none raises. No project's names are in here, only English.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct

from codec.agent.index.facts import FileKind
from codec.agent.written_lines import WrittenLine, written_lines

MOST_TEXT = 4_000
MOST_WORDS = 32
MOST_NAMES = 16
MOST_JOINED = 32
LONGEST = 100
"""Letters of a word. Longer ones are no words."""

_RUN = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_PART = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TICKED = re.compile(r"`+[^`\n]{1,200}`+")
_NAME = re.compile(r"(?P<name>[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)*)(?P<call>\()?")
_JOINT = re.compile(r"\.|::|#|->")
_PATH = re.compile(r"(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}\b|(?:[\w.@+-]+/)+[\w.@+-]*")
_DEFINED = re.compile(
    r"(?:(?:export|default|public|private|static|async|pub)\s+)*(?:def|class|func|function|fn|interface|struct|enum|trait|type)"
    r"\s+(?P<name>[^\W\d]\w*)\s*[({:]?"
)
"""The whole question is how a definition begins: somebody would grep for it."""
_WORD = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")

T = TypeVar("T")

CARRY_NOTHING = frozenset(
    """
    a about above after again all also an and any are as at be because been before being below between both but by can
    could did do does doing don during each for from further had has have having he her here how i if in into is isn it
    its itself just may me might more most must my no nor not now of off on once only onto or other our out over own
    same shall she should so some such t than that the their them then there these they this those through to too
    under until up us very was we were what when where which while who whom whose why will with within without would
    you your s re ve ll d m
    """.split()  # noqa: SIM905 - a paragraph
)

_TESTS, _DOCS = r"(?:unit |integration |regression )?tests?", r"(?:docs?|documentation|readme|tutorials?|manual)"
_EXAMPLES = r"(?:examples?|demos?|samples?)"
_CHANGES = re.compile(
    r"(?i)\W*(?:\w+[:!]\s*|\[[^\]]*\]\s*)*(?:\w+ly\s+)?(?:add|allow|apply|avoid|bump|change|clarify|clean|convert|correct"
    r"|create|delete|deprecate|disable|document|don't|drop|enable|ensure|exclude|expand|extend|fix|handle|ignore"
    r"|implement|improve|include|introduce|make|mention|merge|move|prevent|raise|refactor|refer|reformat|remove|rename"
    r"|replace|restore|revert|rewrite|simplify|skip|split|stop|support|suppress|switch|test (?=that|if|whether)"
    r"|tweak|typo|unify|update|upgrade|use|wrap)(?:e?d|e?s|ing|ied)?\b"
)
"""The question begins as the message of a commit does."""


def _asks(things: str, verbs: str) -> re.Pattern[str]:
    of = r"(?:of|for|about|on|in|that|which|where|cover\w*|show\w*|of how)"
    return re.compile(
        rf"(?i)\b(?:where|which|what|show|find|list|see|search|look|read|open|in|our|the|are there|any|is there)\b"
        rf"[^.?!]{{0,60}}?\b{things}\b"
        rf"|^\W*(?:an? |the |some )?(?:\w+ (?:and|or) )?{things}\b(?:$|\W*[?:]|(?: (?:and|or) \w+)? {of}\b)"
        rf"|\b{things}\s*[?.!]*$|\b(?:{verbs})\b"
    )


_ASKED: tuple[tuple[FileKind, re.Pattern[str]], ...] = (
    ("test", _asks(_TESTS, r"tested|test_\w+|\w+_tests?\b")),
    ("doc", _asks(_DOCS, r"documented")),
    ("example", _asks(_EXAMPLES, r"example of how")),
)


class AskedName(Struct, frozen=True, array_like=True):
    """Something that may be defined somewhere."""

    name: str
    containers: tuple[str, ...] = ()
    """Connection.close: close, in Connection."""
    certain: bool = False


class IndexQuestion(Struct, frozen=True, kw_only=True):
    words: tuple[str, ...] = ()
    """Lowercase, each once, in their order."""
    names: tuple[AskedName, ...] = ()
    joined: tuple[str, ...] = ()
    """Lowercase."""
    paths: tuple[str, ...] = ()
    """Those of `lines` among them."""
    lines: tuple[WrittenLine, ...] = ()
    kinds: frozenset[FileKind] = frozenset()
    sole: str = ""


def question_of(text: str) -> IndexQuestion:
    text = asked_part(text)
    names = _names(text)
    words = telling_words(text)
    stripped = text.strip().strip("`'\"()").strip()
    sole = stripped if len(names) == 1 and _NAME.fullmatch(stripped) else ""
    if (definition := _DEFINED.fullmatch(stripped)) is not None:
        sole = definition["name"]
        names = (AskedName(sole, certain=True),)
    lines = both_ends(written_lines(text), MOST_NAMES)
    return IndexQuestion(
        words=words,
        names=names,
        joined=_joined(text),
        paths=_paths(text, lines),
        lines=lines,
        kinds=frozenset() if sole else _kinds(text),
        sole=sole[:LONGEST],
    )


def asked_part(text: str) -> str:
    """As much of a long text as is read."""
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[: MOST_TEXT // 2]}\n{text[-MOST_TEXT // 2 :]}"


def parts_of(run: str) -> list[str]:
    """The words in one run of letters and digits: HTTPServer has http and server."""
    return [part.lower() for part in _PART.findall(run)] if run.isascii() else [run.lower()]


def telling_words(text: str) -> tuple[str, ...]:
    """Lowercase, each once, without those that carry nothing, if there are others."""
    found = dict.fromkeys(word for word in _all_words(text) if len(word) <= LONGEST)
    telling = [word for word in found if word not in CARRY_NOTHING]
    return both_ends(telling or found, MOST_WORDS)


def both_ends(found: Iterable[T], most: int) -> tuple[T, ...]:
    """As many of them as may be. Of too many, those in the middle are left out: a long text says first what it is
    about, and a stack trace ends with what has happened."""
    everything = tuple(found)
    if len(everything) <= most:
        return everything
    last = most // 2
    return everything[: most - last] + everything[len(everything) - last :]


def _all_words(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        yield run.lower()
        parts = parts_of(run)
        if len(parts) > 1:
            yield from (part for part in parts if len(part) > 1)


def _names(text: str) -> tuple[AskedName, ...]:
    found: dict[tuple[str, ...], bool] = {}
    ticked = {at for span in _TICKED.finditer(text) for at in range(*span.span())}
    for match in _NAME.finditer(text):
        *containers, name = _JOINT.split(match["name"])
        certain = bool(match.start() in ticked or match["call"] or containers or _looks_like_code(name))
        if 1 < len(name) <= LONGEST and (certain or name.lower() not in CARRY_NOTHING):
            key = (*containers[-3:], name)
            found[key] = found.get(key, False) or certain
    all_of_them = [AskedName(key[-1], key[:-1], certain) for key, certain in found.items()]
    sure = both_ends((each for each in all_of_them if each.certain), MOST_NAMES)
    return sure + both_ends((each for each in all_of_them if not each.certain), MOST_NAMES - len(sure))


def _joined(text: str) -> tuple[str, ...]:
    words = [(match[0].lower(), match.span()) for match in _LETTERS.finditer(text)]
    found = dict[str, None]()
    for (one, (_, end)), (two, (begin, _)) in pairwise(words):
        is_one = text[end:begin] in (" ", "-") and min(len(one), len(two)) > 1 and len(one) + len(two) < LONGEST
        if is_one and not {one, two} & CARRY_NOTHING:
            found[one + two] = found[f"{one}_{two}"] = None
    return both_ends(found, MOST_JOINED)


def _looks_like_code(name: str) -> bool:
    inner = name.strip("_")
    return "_" in name or (name != name.upper() and any(letter.isupper() for letter in inner[1:]))


def _paths(text: str, lines: Iterable[WrittenLine]) -> tuple[str, ...]:
    found = (each.strip("/.").removeprefix("./") for each in _PATH.findall(text))
    alone = both_ends(dict.fromkeys(each for each in found if 1 < len(each) <= 4 * LONGEST), MOST_NAMES)
    return tuple(dict.fromkeys([*(each.path for each in lines), *alone]))[:MOST_NAMES]


def _kinds(text: str) -> frozenset[FileKind]:
    if _CHANGES.match(text):
        return frozenset()
    return frozenset(kind for kind, form in _ASKED if form.search(text))
