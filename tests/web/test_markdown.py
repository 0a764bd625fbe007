"""Markdown that comes in pieces is drawn as if it had come whole, and nothing of it is ever markup of the page."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from tests.web.stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DRAW = """async ([pieces, frames]) => {
    const { MarkdownText } = await import(new URL("web/house/markdown.js", document.baseURI));
    const place = document.createElement("div");
    const text = new MarkdownText(place);
    for (const [at, piece] of pieces.entries()) {
        text.append(piece);
        if (frames.includes(at)) await new Promise(requestAnimationFrame);
    }
    text.end();
    return [place.innerHTML, text.text];
}"""

FENCE = "```"
WHOLE = f"""# One **bold** title

A line
and another, with `code`, *slant*, ~~struck~~ and a [link](https://example.org/a "title").
A last one with https://example.org/b_c and 2 * 3 * 4, snake_case_name.

- one
- two
  - deeper `x`
    more
- [x] done

1. first
2. second

   its second paragraph

> said
> twice

{FENCE}python
def f():

    return "# no title"
{FENCE}
| a | b |
|---|--:|
| 1 | 2 \\| 3 |

***
an end without a line's end"""

EXPECTED = {
    "plain": "<p>plain</p>",
    "**a** __b__ *c* _d_ `e`": (
        "<p><strong>a</strong> <strong>b</strong> <em>c</em> <em>d</em> <code>e</code></p>"
    ),
    "## Two ##": "<h3>Two</h3>",
    "a\n\nb": "<p>a</p><p>b</p>",
    "a  \nb\nc": "<p>a<br>b\nc</p>",
    "- a\n- b": "<ul><li>a</li><li>b</li></ul>",
    "3. a\n4. b": '<ol start="3"><li>a</li><li>b</li></ol>',
    "- a\n  - b\n- c": "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>",
    "> a\n> b": "<blockquote><p>a\nb</p></blockquote>",
    f"{FENCE}js\n<b>\n{FENCE}": '<pre tabindex="0" data-language="js"><code>&lt;b&gt;</code></pre>',
    f"{FENCE}\nnever ended": '<pre tabindex="0"><code>never ended</code></pre>',
    "---": "<hr>",
    "snake_case_name * 3 * 4": "<p>snake_case_name * 3 * 4</p>",
    "<img src=x onerror=alert(1)>": "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
    "[x](javascript:alert(1))": "<p><span>x</span>)</p>",
    "![p](https://e.org/p.png)": (
        '<p><a href="https://e.org/p.png" target="_blank" rel="noopener noreferrer">p</a></p>'
    ),
    "| a |\n---": "<p>| a |\n---</p>",
}


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    with Stage(None) as stage, chromium.new_context() as context:
        page = context.new_page()
        page.goto(stage.url)
        yield page


def drawn(page: Page, pieces: list[str], frames: Sequence[int] = ()) -> list[Any]:
    """The HTML, and the text that was kept. After the pieces with these numbers a frame is drawn."""
    return list(page.evaluate(DRAW, [pieces, list(frames)]))


@pytest.mark.parametrize(("text", "html"), EXPECTED.items())
def test_what_models_write_is_drawn_as_it_is_meant(page: Page, text: str, html: str) -> None:
    assert drawn(page, [text])[0] == html


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_text_in_pieces_is_drawn_as_the_whole(page: Page, seed: int) -> None:
    draw = random.Random(seed)
    blocks = WHOLE.split("\n\n")
    draw.shuffle(blocks)
    text = "\n\n".join(blocks)
    cuts = sorted(draw.sample(range(len(text) + 1), draw.randint(0, 60)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    frames = draw.sample(range(len(pieces)), min(5, len(pieces)))
    html, kept = drawn(page, pieces, frames)
    assert kept == text
    assert html == drawn(page, [text])[0]


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="ab`*_~[]()<>|-#>!:/.\\ \n1", max_size=200))
def test_whatever_is_written_pieces_make_the_whole(page: Page, text: str) -> None:
    html, kept = drawn(page, list(text))
    assert kept == text
    assert html == drawn(page, [text])[0]


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet="ab*_~[]<>|-#>!:/.\\ \n", max_size=200))
def test_no_letter_is_lost(page: Page, text: str) -> None:
    html, _ = drawn(page, [text])
    shown = page.evaluate("html => new DOMParser().parseFromString(html, 'text/html').body.textContent", html)
    assert [letter for letter in shown if letter in "ab"] == [letter for letter in text if letter in "ab"]


def test_what_is_drawn_stays_and_only_the_last_block_is_drawn_anew(page: Page) -> None:
    kept = page.evaluate("""async () => {
        const { MarkdownText } = await import(new URL("web/house/markdown.js", document.baseURI));
        const place = document.createElement("div");
        const text = new MarkdownText(place);
        text.append("one\\n\\ntwo\\n\\nthr");
        await new Promise(requestAnimationFrame);
        const before = [...place.children];
        text.append("ee\\n\\nfour");
        await new Promise(requestAnimationFrame);
        const after = [...place.children];
        text.end();
        return [before.length, after.length, before.slice(0, 2).every((each, at) => each === after[at])];
    }""")
    assert kept == [3, 4, True]


def test_a_line_without_end_is_drawn_in_parts_and_whole(page: Page) -> None:
    words = "word " * 20_000
    pieces = [words[at : at + 500] for at in range(0, len(words), 500)]
    html, _ = drawn(page, pieces, list(range(len(pieces))))
    assert html.replace("</p><p>", " ").count("word") == 20_000
