"""Markdown as people know it from GitHub, and clean whatever is in it."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.sidekick.github import addresses, trimmed
from actors.sidekick.prose import prose


def links(source: str) -> dict[str, str]:
    """What is shown as a link, and where it leads."""
    return {text: href for href, text in re.findall(r'<a href="([^"]*)"[^>]*>(.*?)</a>', prose(source))}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("see https://example.org/a_b_c.", {"https://example.org/a_b_c": "https://example.org/a_b_c"}),
        ("(http://a.org/x(y))", {"http://a.org/x(y)": "http://a.org/x(y)"}),
        ("http://localhost:5163/session/x!", {"http://localhost:5163/session/x": "http://localhost:5163/session/x"}),
        ("WWW.example.org, that", {"WWW.example.org": "http://WWW.example.org"}),
        ("**https://a.org/**", {"https://a.org/": "https://a.org/"}),
        ("https://a.org?q=1&amp", {"https://a.org?q=1&amp;amp": "https://a.org?q=1&amp;amp"}),
        ("me.too+1@example.org.", {"me.too+1@example.org": "mailto:me.too+1@example.org"}),
        ("<https://a.org>", {"https://a.org": "https://a.org"}),
        ("| a |\n|-|\n| https://a.org |", {"https://a.org": "https://a.org"}),
        ("https://bücher.example/ä", {"https://bücher.example/ä": "https://xn--bcher-kva.example/%C3%A4"}),
        ("[https://a.org](http://b.org)", {"https://a.org": "http://b.org"}),
        ('<a href="http://b.org">https://a.org</a>', {"https://a.org": "http://b.org"}),
        ("`https://a.org`", {}),
        ("    https://a.org", {}),
        ("xhttps://a.org", {}),
        ("www.a, www.b", {}),
        ("https://", {}),
        ("http://a_b.c_d/ http://a..b/", {}),
        ("javascript:alert(1) ftp://a.org file:///etc", {}),
        ("a@b me@localhost x@y.z-", {}),
    ],
)
def test_an_address_is_a_link_as_it_stands(source: str, found: dict[str, str]) -> None:
    assert links(source) == found


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("http://a/b.", "http://a/b"),
        ("http://a/b?!:;,", "http://a/b"),
        ("http://a/(b)", "http://a/(b)"),
        ("http://a/b)", "http://a/b"),
        ("http://a/(b)).", "http://a/(b)"),
        ("http://a/b&lt;", "http://a/b"),
        ("http://a/?x=1;y", "http://a/?x=1;y"),
        ("http://a/b**", "http://a/b"),
    ],
)
def test_what_ends_the_sentence_does_not_belong_to_the_address(address: str, left: str) -> None:
    assert trimmed(address) == left


def test_a_list_of_tasks_has_boxes_that_cannot_be_ticked() -> None:
    html = prose("- [ ] to do\n- [x] *done*\n- [X] done\n  1. [ ] inside\n- [y] no\n- [ ]\n- x [ ] no\n\n[ ] no\n")
    assert html.count('<input type="checkbox" disabled=""> ') == 2
    assert html.count('<input type="checkbox" disabled="" checked=""> ') == 2
    assert re.findall(r"<input[^>]*>\s*([^<\n]*)", html) == ["to do", "", "done", "inside"]


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


KNOWN = {
    "p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "del", "sub", "sup", "kbd", "ul", "ol", "li",
    "a", "img", "input", "table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip
PARTS = st.sampled_from(
    ["- [x] ", "- [ ] ", "\n", "\n\n", "  ", "https://", "www.a.b", "a@b.c", "<", ">", "[", "](", ")", "&amp;", "`",
     "*", "_", "<input ", "type=text ", "autofocus ", "onfocus=x() ", "<a href=", "</a>", "javascript:", "|", "\\", '"',
     "é", "\0", "😀"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PARTS | st.text(max_size=5), max_size=30).map("".join))
@example("<input type=text name=a value=b autofocus onfocus=alert(1)>")
@example('<input type="image" src="https://a.org" formaction="javascript:x()">')
@example("www." * 50)
@example("- [x] https://[")
@example("http://a.b\\://")
@example("<a href=0https://>")
def test_whatever_is_written_the_page_may_show_it(source: str) -> None:
    elements = Elements()
    elements.feed(prose(source))
    for tag, attributes in elements.found:
        assert tag in KNOWN
        assert not any(name.startswith("on") or name in ("style", "autofocus", "name", "value") for name in attributes)
        if tag == "input":
            assert attributes.pop("checked", "") == ""
            assert attributes == {"type": "checkbox", "disabled": ""}
        if tag == "a" and "href" in attributes:
            scheme = re.match(r"\s*([a-z][a-z0-9+.-]*):", attributes["href"] or "", re.IGNORECASE)
            assert scheme is None or scheme[1].lower() in ("http", "https", "mailto")


@given(st.text(alphabet="ahtps:/w.@_-()&;<b é1", max_size=60))
def test_an_address_stands_in_the_text_where_it_is_said_to_be(text: str) -> None:
    done = 0
    for start, shown, href in addresses(text):
        assert start >= done
        assert text[start : start + len(shown)] == shown != ""
        assert href.endswith(shown)
        done = start + len(shown)
