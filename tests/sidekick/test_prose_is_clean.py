"""What is shown of Markdown is what was let through, and nothing else: as HTML, to the letter."""

import pytest

from actors.sidekick.prose import LONGEST, prose

LINK = 'rel="noopener noreferrer"'


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("a <script>alert(1)</script> b", "<p>a  b</p>"),
        ("<script>alert(1)</script>", ""),
        ("<style>p { color: red }</style>", ""),
        ("<iframe src=https://a.org></iframe>x", "x"),
        ('<p style="color:red" onclick="x()" id="y" class="z">a</p>', "<p>a</p>"),
        ('<img src="https://a.org/b.png" onerror="x()" alt="b" title="t" width=9>',
         '<img src="https://a.org/b.png" alt="b" title="t">'),
        ('<a href="javascript:x()">a</a>', f"<p><a {LINK}>a</a></p>"),
        ("[a](javascript:x)", "<p>[a](javascript:x)</p>"),
        ("[a](https://a.org 't')", f'<p><a href="https://a.org" title="t" {LINK}>a</a></p>'),
        ("[a](mailto:b@c.org)", f'<p><a href="mailto:b@c.org" {LINK}>a</a></p>'),
        ("[a](http://b.org)", f'<p><a href="http://b.org" {LINK}>a</a></p>'),
        ("[a](ftp://b.org)", f"<p><a {LINK}>a</a></p>"),
        ("<svg><circle onload=x()></svg>", "<p></p>"),
        ("<form action=https://a.org><button>b</button></form>", "b"),
        ("<!-- not shown -->", ""),
        ("x < y & z", "<p>x &lt; y &amp; z</p>"),
        ("```python\nx\n```", '<pre><code class="language-python">x\n</code></pre>'),
        ("```c++\nx\n```", '<pre><code class="language-c++">x\n</code></pre>'),
        (f"```{'x' * 41}\nx\n```", "<pre><code>x\n</code></pre>"),
        ('<code class="button">x</code>', "<p><code>x</code></p>"),
        ('<code class="language-a b">x</code>', "<p><code>x</code></p>"),
        ('<ol start="3"><li>x</li></ol>', '<ol start="3"><li>x</li></ol>'),
        ("| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |",
         '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="center">b</th>\n<th align="right">c</th>\n</tr>\n</thead>\n'
         '<tbody>\n<tr>\n<td>1</td>\n<td align="center">2</td>\n<td align="right">3</td>\n</tr>\n</tbody>\n</table>'),
        ("~~a~~ **b** *c* `d`", "<p><s>a</s> <strong>b</strong> <em>c</em> <code>d</code></p>"),
    ],
)  # fmt: skip
def test_nothing_is_shown_but_what_is_let_through(source: str, html: str) -> None:
    assert prose(source).strip() == html


@pytest.mark.parametrize(("length", "is_cut"), [(LONGEST, False), (LONGEST + 1, True)])
def test_what_is_too_long_is_cut_and_says_so(length: int, is_cut: bool) -> None:
    html = prose("x" * length)
    assert html.startswith(f"<p>{'x' * LONGEST}</p>")
    assert ("<em>(cut here: the text has 300,001 characters)</em>" in html) == is_cut
