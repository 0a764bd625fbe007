"""Markdown as our own board shows it: rendered by markdown-it (CommonMark, with the tables and the strike-through that
people know from GitHub), then cleaned by nh3, whatever came out. Pure.
"""

import re

import nh3
from markdown_it import MarkdownIt

LONGEST = 300_000
"""Characters; what is longer is cut, and says so."""

_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")
_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "del", "sub", "sup", "kbd"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "a", "img"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "code": {"class"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
}

_markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def prose(source: str) -> str:
    """HTML that can be shown as it is."""
    if len(source) > LONGEST:
        source = f"{source[:LONGEST]}\n\n*(cut here: the text has {len(source):,} characters)*"
    return nh3.clean(
        _rendered(source),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_keep,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )


def _rendered(source: str) -> str:
    environment: dict[str, object] = {}
    tokens = _markdown.parse(source, environment)
    for token in tokens:
        if token.type in ("th_open", "td_open") and token.attrs:  # a style would break our content policy
            token.attrs = {"align": str(token.attrs.get("style", "")).removeprefix("text-align:")}
    return str(_markdown.renderer.render(tokens, _markdown.options, environment))


def _keep(tag: str, attribute: str, value: str) -> str | None:
    match tag, attribute:
        case "code", "class":
            return value if _LANGUAGE.fullmatch(value) else None
        case _:
            return value
