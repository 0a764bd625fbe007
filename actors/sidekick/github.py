"""Two features of GitHub's Markdown that CommonMark lacks: plain addresses become links, and lists may contain tasks.
Both are core rules for markdown-it, which work on its tokens. Pure, and linear in the text.

An address begins with http://, https:// or www., or is an e-mail address. It is not recognised inside a word, code or a
link. The punctuation at the end of a sentence does not belong to it, nor does a closing parenthesis that it has not
opened.

A task is an item of a list that begins with [ ] or [x]. It is shown as a box that cannot be ticked, because the text
belongs to the script.
"""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_ADDRESS = re.compile(
    r"(?<![^\W_])(?P<url>https?://[^\s<]+|www\.[^\s<]+)"
    r"|(?<![\w.+-])(?P<mail>[A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[A-Za-z0-9:/?#@!$&'()*+,;=._~-]+")
_HOST = re.compile(r"(?:https?://)?([^/?#:]*)", re.IGNORECASE)
_LABEL = re.compile(r"[^\W_](?:[\w-]*[^\W_])?|\w+")
_ENTITY = re.compile(r"&[A-Za-z0-9]{1,32};\Z")
_TASK = re.compile(r"\[([ xX])\](?=\s)")

ENDS_A_SENTENCE = frozenset("?!.,:;*_~'\"”’»")


def as_on_github(markdown: MarkdownIt) -> MarkdownIt:
    markdown.enable(["table", "strikethrough"])
    markdown.core.ruler.after("inline", "addresses", _link_addresses)
    markdown.core.ruler.after("inline", "tasks", _tick_tasks)
    return markdown


# --- addresses


def _link_addresses(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and token.children:
            token.children = list(_linked(state.md, token.children))


def _linked(markdown: MarkdownIt, children: list[Token]) -> Iterator[Token]:
    depth = 0  # of links, including those that are written in HTML
    for child in children:
        if child.type == "html_inline":
            depth += _opens_link(child.content)
        else:
            depth += child.nesting * (child.type in ("link_open", "link_close"))
        if child.type == "text" and depth <= 0:
            yield from _split(markdown, child)
        else:
            yield child


def _opens_link(html: str) -> int:
    start = html[:3].lower()
    return 1 if start in ("<a ", "<a>") else -1 if start == "</a" else 0


def _split(markdown: MarkdownIt, token: Token) -> Iterator[Token]:
    text, done = token.content, 0
    for start, shown, href in addresses(text):
        if not _PLAIN.fullmatch(href):  # a plain one needs no normalizing, which is slow
            href = markdown.normalizeLink(href)
        if start > done:
            yield _text(text[done:start], token.level)
        yield Token("link_open", "a", 1, attrs={"href": href}, level=token.level)
        yield _text(shown, token.level + 1)
        yield Token("link_close", "a", -1, level=token.level)
        done = start + len(shown)
    if done == 0:
        yield token
    elif done < len(text):
        yield _text(text[done:], token.level)


def _text(content: str, level: int) -> Token:
    return Token("text", "", 0, content=content, level=level)


def addresses(text: str) -> Iterator[tuple[int, str, str]]:
    """All addresses in a text: the position of each, its text, and the address that it links to."""
    for found in _ADDRESS.finditer(text):
        if found["mail"]:
            if found["mail"][-1] not in "-_" and _is_host(found["mail"].partition("@")[2], 2):
                yield found.start(), found["mail"], f"mailto:{found['mail']}"
            continue
        shown = trimmed(found["url"])
        is_bare = not shown.lower().startswith("http")
        host = _HOST.match(shown)
        if host is not None and _is_host(host[1], 3 if is_bare else 1):
            yield found.start(), shown, f"http://{shown}" if is_bare else shown


def _is_host(name: str, least: int) -> bool:
    labels = name.split(".")
    return len(labels) >= least and all(map(_LABEL.fullmatch, labels)) and "_" not in "".join(labels[-2:])


def trimmed(address: str) -> str:
    """The address without punctuation that ends the sentence around it."""
    end = len(address)
    surplus = address.count(")") - address.count("(")
    while end:
        last = address[end - 1]
        if last == ";" and (entity := _ENTITY.search(address, max(0, end - 34), end)):
            end = entity.start()
        elif last in ENDS_A_SENTENCE:
            end -= 1
        elif last == ")" and surplus > 0:
            end -= 1
            surplus -= 1
        else:
            break
    return address[:end]


# --- tasks


def _tick_tasks(state: StateCore) -> None:
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if (item.type, paragraph.type, inline.type) != ("list_item_open", "paragraph_open", "inline"):
            continue
        first = inline.children[0] if inline.children else None
        if first is None or first.type != "text" or (found := _TASK.match(inline.content)) is None:
            continue
        if not first.content.startswith(found[0]):
            continue
        first.content = first.content[len(found[0]) :]
        attributes: dict[str, str | int | float] = {"type": "checkbox", "disabled": ""}
        if found[1] != " ":
            attributes["checked"] = ""
        assert inline.children is not None
        inline.children.insert(0, Token("task", "input", 0, attrs=attributes))
