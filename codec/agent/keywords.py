"""The words of a question that are worth searching for: names of code first, then words that are not everywhere.

A word that is everywhere may be a name all the same: in "where is check defined?" the question's form says so.
"""

import re

MOST = 8
_QUOTED = re.compile(r"[`'\"]([\w./:-]{2,80})[`'\"]")
_TERM = re.compile(r"[^\W\d][\w]*(?:(?:\.|::|/|-)[\w]+)*")
_COMMAND = re.compile(r"^\s*/\w+\b")

_KIND = r"(?:(?:function|method|class|constant|variable|type|macro|symbol|table)\s+)?"
_ASKED = rf"(?:the\s+)?{_KIND}[`'\"]?(?P<name>[^\W\d]\w+)[`'\"]?(?:\(\))?"
_FORMS = tuple(
    re.compile(rf"(?i)\b{form}")
    for form in (
        rf"where(?:'s|\s+is|\s+was|\s+does|\s+do\s+(?:we|you|they|i))\s+(?:define\s+)?{_ASKED}\s+"
        r"(?:defined|declared|implemented|called|used|come\s+from)\b",
        rf"where\s+do\s+(?:we|you|they|i)\s+(?:define|declare|implement|call|use)\s+{_ASKED}",
        rf"(?:what|how)\s+does\s+{_ASKED}\s+(?:do|work|return|mean)\b",
        rf"(?:who|what)\s+(?:calls|uses|mentions)\s+{_ASKED}",
        rf"(?:definition|implementation|callers?|usages?)\s+of\s+{_ASKED}",
        rf"wo\s+(?:ist|wird)\s+(?:die\s+|der\s+|das\s+)?(?:funktion\s+|klasse\s+|methode\s+)?{_ASKED}\s+"
        r"(?:definiert|deklariert|aufgerufen|benutzt|verwendet)\b",
    )
)
"""Questions that ask for a name."""
_NO_NAMES = frozenset(
    """
    it its this that they them these those he she one all anything everything something nothing each both code thing
    things program test tests project repository workspace file files folder module value values error errors bug line
    function method class constant variable type macro symbol table es sie er das die der
    """.split()  # noqa: SIM905 - a paragraph
)
_EVERYWHERE = frozenset(
    """
    a about above add after again all also always an and another any anything are as ask at available be because
    been before being below between both but by bug call called calls can cannot change changed check class code come
    could create current day declared define defined defines definition describe did difference different do does
    doing done down each easy either else error errors even ever every everything example explain exactly fail
    failing fails few file files find first fix fixed folder for from function functions get gets give given go goes
    good got great had happen happens has have having he hello help her here hey hi how however i if implement
    implemented in inside instead into is issue it its just keep know let like line lines list look looks made make
    makes many may me mean means mention mentioned mentions method might module more most much must my name named
    need needs never new next no not nothing now of off ok okay on once one only onto or other our out over own part
    place please possible problem project put question read refactor repository return returns right run runs same
    say says see set shall she should show some something source start stop sure take tell test tests than thank
    thanks that the their them then there these they thing things this those through time to too try under
    understand until up us use used uses using value very want wants was way we well were what when where whether
    which while who whole why will with without work works workspace would write wrong yes yet you your bitte danke
    das der die ein eine erkläre für ist in mit nicht oder und von was wie wo warum zu
    """.split()  # noqa: SIM905 - a paragraph
)


def keywords(question: str) -> tuple[str, ...]:
    """At most `MOST` words, the most telling first. Empty: there is nothing to search for."""
    question = _COMMAND.sub("", question[:20_000])
    found: dict[str, int] = dict.fromkeys(_asked_for(question), 0)
    for quoted in _QUOTED.findall(question):
        found.setdefault(quoted, 0)
    for term in _TERM.findall(question):
        if is_name(term):
            found.setdefault(term, 1)
        elif term.lower() not in _EVERYWHERE and len(term) > 2:
            found.setdefault(term, 2)
    lowered: dict[str, str] = {}
    for word in sorted(found, key=lambda word: found[word]):
        lowered.setdefault(word.lower(), word)
    return tuple(lowered.values())[:MOST]


def names_or_words(words: tuple[str, ...], question: str) -> tuple[str, ...]:
    """Which of a question's words to search for at once: names of code alone, if there are any, because every further
    word brings noise."""
    if not any(map(is_name, words)):
        return words
    asked = {*_asked_for(question)}
    return tuple(word for word in words if is_name(word) or word in asked)


def _asked_for(question: str) -> list[str]:
    """What the form of the question says is a name."""
    found = [match["name"] for form in _FORMS for match in form.finditer(question[:20_000])]
    return [name for name in found if name.lower() not in _NO_NAMES]


def is_name(word: str) -> bool:
    """Whether it looks like a name of code rather than like a word: snake_case, camelCase, a.path, WITH2."""
    inner = word.strip("_")
    if "_" in inner or "." in inner or "::" in inner or "/" in inner or word != inner:
        return True
    return any(each.isupper() for each in word[1:]) or any(each.isdigit() for each in word)


def last_part(word: str) -> str:
    """Of a dotted name or a path, what is at its end: `Session.login` -> `login`."""
    return re.split(r"\.|::|/", word.strip("./:"))[-1]
