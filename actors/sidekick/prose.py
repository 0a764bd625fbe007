"""Renders Markdown for our own board. markdown-it (CommonMark, with GitHub's tables, strike-through, tasks and plain
addresses as links) makes HTML, and nh3 always cleans it. Pure.

The only input element that passes is the box of a task. Any other input becomes such a box, which cannot be ticked.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

LONGEST = 300_000
"""Characters. A longer text is cut, and the result says so."""

_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")
_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "del", "sub", "sup", "kbd"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "a", "img", "input"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "code": {"class"},
    "ol": {"start"},
    "input": {"type", "checked", "disabled"},
    "th": {"align"},
    "td": {"align"},
}

_BOX = {"input": {"type": "checkbox", "disabled": ""}}


def prose(source: str) -> str:
    """The HTML of a Markdown text. It is safe to show as it is."""
    if len(source) > LONGEST:
        source = f"{source[:LONGEST]}\n\n*(cut here: the text has {len(source):,} characters)*"
    import nh3  # takes a while to load, as markdown-it does

    return nh3.clean(
        _rendered(source),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_keep,
        set_tag_attribute_values=_BOX,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )


def _rendered(source: str) -> str:
    environment: dict[str, object] = {}
    markdown = _markdown()
    tokens = markdown.parse(source, environment)
    for token in tokens:
        if token.type in ("th_open", "td_open") and token.attrs:  # a style would break our content policy
            token.attrs = {"align": str(token.attrs.get("style", "")).removeprefix("text-align:")}
    return str(markdown.renderer.render(tokens, markdown.options, environment))


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # when the first board has Markdown, and not at each start

    from actors.sidekick.github import as_on_github

    return as_on_github(MarkdownIt("commonmark"))


def _keep(tag: str, attribute: str, value: str) -> str | None:
    match tag, attribute:
        case "code", "class":
            return value if _LANGUAGE.fullmatch(value) else None
        case _:
            return value
