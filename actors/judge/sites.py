"""The layouts of problems' addresses on the known sites, as a table.

A row's pattern is matched against host, path, query and fragment (`cses.fi/problemset/task/1094`). It names the task
and, if there is one, the contest. The rest of the address is ignored: an editor's tab, a language. Rows of one site
stand together, and the first that matches counts.

AtCoder's contests keep their own names, as the spec requires. Those of every other site begin with the site's name, so
two sites cannot have the same one. If a site ignores case, its own spelling is used.
"""

import re
from collections.abc import Callable
from typing import NamedTuple


class SiteIds(NamedTuple):
    contest: str
    task: str


class Layout(NamedTuple):
    pattern: re.Pattern[str]
    contest: str
    """The contest's id, with the groups of the pattern."""
    case: Callable[[str], str]


def find(address: str) -> SiteIds | None:
    """The ids that the table finds in an address, in the form of `places.address`. They are not valid names yet."""
    for layout in _TABLE:
        if match := layout.pattern.match(address):
            parts = {name: part for name, part in match.groupdict().items() if part is not None}
            return SiteIds(layout.contest.format(**{"c": "", **parts}), layout.case(parts["t"]))
    return None


_END = r"(?=[/?#]|\Z)"
_PARTS = {
    "<c>": r"(?P<c>[^/?#]+)",
    "<n>": r"(?P<c>[0-9]+)",
    "<y>": r"(?P<y>[0-9]+)",
    "<t>": r"(?P<t>[^/?#&]+)",
    "<any>": r"[^/?#]+",
}
"""Placeholders in the table's paths, besides regular expressions: contest, numbered contest, year, task, anything."""


def _same(text: str) -> str:
    return text


def _row(host: str, path: str, contest: str, case: Callable[[str], str] = _same) -> Layout:
    path = re.sub("|".join(_PARTS), lambda part: _PARTS[part[0]], path)
    return Layout(re.compile(rf"(?:{host})/{path}{_END}"), contest, case)


_CODEFORCES = r"(?:[a-z0-9-]+\.)?codeforces\.(?:com|net|ml)|codeforc\.es"
_LUOGU = r"luogu\.(?:com\.cn|com|org)"
_LOJ = r"loj\.ac|libreoj\.(?:online|com\.cn)"
_AOJ = r"(?:online)?judge\.u-aizu\.ac\.jp"
_LEETCODE = r"leetcode\.(?:com|cn)|leetcode-cn\.com"
_GOOGLE = r"codingcompetitions\.withgoogle\.com"
_HACKER_CUP = r"(?:[a-z]+\.)?facebook\.com"

_TABLE = (
    _row(r"(?:[a-z]+\.)?atcoder\.jp", "contests/<c>/tasks/<t>", "{c}"),
    _row(r"(?P<c>[^/?#.]+)\.contest\.atcoder\.jp", "tasks/<t>", "{c}"),
    _row(_CODEFORCES, r"contest/<n>/problem/<t>", "codeforces-{c}", str.upper),
    _row(_CODEFORCES, r"problemset/problem/<n>/<t>", "codeforces-{c}", str.upper),
    _row(_CODEFORCES, r"gym/<c>/problem/<t>", "codeforces-gym-{c}", str.upper),
    _row(_CODEFORCES, r"group/<any>/contest/<c>/problem/<t>", "codeforces-group-{c}", str.upper),
    _row(_CODEFORCES, r"edu/course/.*?/contest/<c>/problem/<t>", "codeforces-edu-{c}", str.upper),
    _row(_CODEFORCES, "problemsets/acmsguru/problem/<any>/<t>", "codeforces-acmsguru", str.upper),
    _row(r"open\.kattis\.com", r"(?:problems|challenge)/<t>", "kattis"),
    _row(r"open\.kattis\.com", r"(?:contests|sessions)/<c>/problems/<t>", "kattis-contest-{c}"),
    _row(r"(?P<c>[^/?#.]+)\.kattis\.com", r"(?:problems|challenge)/<t>", "kattis-{c}"),
    _row(r"(?P<h>[^/?#.]+)\.kattis\.com", r"(?:contests|sessions)/<c>/problems/<t>", "kattis-{h}-{c}"),
    _row(r"cses\.fi", "problemset/task/<t>", "cses"),
    _row(r"cses\.fi", "<c>/task/<t>", "cses-{c}"),
    _row(_LEETCODE, "problems/<t>", "leetcode"),
    _row(_LEETCODE, "contest/<c>/problems/<t>", "leetcode-{c}"),
    _row(_LUOGU, "problem/<t>", "luogu", str.upper),
    _row(r"qoj\.ac", "problem/<t>", "qoj"),
    _row(r"qoj\.ac", "contest/<c>/problem/<t>", "qoj-{c}"),
    _row(r"contest\.ucup\.ac", "contest/<c>/problem/<t>", "ucup-{c}"),
    _row(r"hackerrank\.com", "challenges/<t>", "hackerrank"),
    _row(r"hackerrank\.com", "contests/<c>/challenges/<t>", "hackerrank-{c}"),
    _row(r"spoj\.com", "problems/<t>", "spoj", str.upper),
    _row(r"(?P<c>[a-z]{2})\.spoj\.com", "problems/<t>", "spoj-{c}", str.upper),
    _row(r"yukicoder\.me", "problems/no/<t>", "yukicoder"),
    _row(r"yukicoder\.me", "problems/<t>", "yukicoder-id"),
    _row(_AOJ, "problems/<t>", "aoj", str.upper),
    _row(_AOJ, r"onlinejudge/description\.jsp\?(?:[^#]*&)?id=<t>[^#]*", "aoj", str.upper),
    _row(_AOJ, "challenges/sources/<any>/<any>/<t>", "aoj", str.upper),
    _row(_AOJ, "courses/(?:lesson|library)/<any>/<any>/<any>/<t>", "aoj", str.upper),
    _row(_AOJ, r"services/room\.html#<c>/problems/<t>", "aoj-room-{c}", str.upper),
    _row(r"dmoj\.ca", "problem/<t>", "dmoj"),
    _row(r"dmoj\.ca", "contest/<c>/problem/<t>", "dmoj-{c}"),
    _row(r"codechef\.com", "(?:problems|submit)/<t>", "codechef", str.upper),
    _row(r"codechef\.com", "practice/course/<any>/<any>/(?:problems|submit)/<t>", "codechef", str.upper),
    _row(r"codechef\.com", "<c>/(?:problems|submit)/<t>", "codechef-{c}", str.upper),
    _row(_HACKER_CUP, "codingcompetitions/hacker-cup/<y>/<c>/problems/<t>", "hacker-cup-{y}-{c}", str.upper),
    _row(_HACKER_CUP, "hackercup/problem/<t>", "hacker-cup"),
    _row(_GOOGLE, "codejam/round/<c>/<t>", "codejam-{c}"),
    _row(_GOOGLE, "kickstart/round/<c>/<t>", "kickstart-{c}"),
    _row(r"acmicpc\.net", "problem/<t>", "boj"),
    _row(r"judge\.yosupo\.jp", "problem/<t>", "library-checker"),
    _row(r"tlx\.toki\.id", "(?:contests|problems)/<c>/(?:problems/)?<t>", "tlx-{c}"),
    _row(_LOJ, r"(?:p|problem)/<t>", "loj"),
    _row(r"uoj\.ac", "problem/<t>", "uoj"),
    _row(r"uoj\.ac", "contest/<c>/problem/<t>", "uoj-{c}"),
    _row(r"acm\.timus\.ru", r"problem\.aspx\?(?:[^#]*&)?num=<t>[^#]*", "timus"),
    _row(r"poj\.org", r"problem\?(?:[^#]*&)?id=<t>[^#]*", "poj"),
    _row(r"acm\.hdu\.edu\.cn", r"showproblem\.php\?(?:[^#]*&)?pid=<t>[^#]*", "hdu"),
    _row(r"vjudge\.net", "problem/<t>", "vjudge"),
    _row(r"vjudge\.net", "contest/<c>#problem/<t>", "vjudge-{c}", str.upper),
    _row(r"ac\.nowcoder\.com", "acm/problem/<t>", "nowcoder"),
    _row(r"ac\.nowcoder\.com", "acm/contest/<c>/<t>", "nowcoder-{c}", str.upper),
    _row(r"acwing\.com", "problem/content/<t>", "acwing"),
    _row(r"(?:official\.)?contest\.yandex\.(?:ru|com)", "contest/<c>/problems/<t>", "yandex-{c}"),
    _row(r"toph\.co", "p/<t>", "toph"),
    _row(r"oj\.uz", "problem/view/<t>", "oj.uz"),
    _row(r"infoarena\.ro", "problema/<t>", "infoarena"),
    _row(r"csacademy\.com", "contest/<c>/task/<t>", "csacademy-{c}"),
    _row(r"hydro\.ac", "p/<t>", "hydro"),
    _row(r"hydro\.ac", "contest/<c>/p/<t>", "hydro-{c}"),
    _row(r"hydro\.ac", "d/<c>/p/<t>", "hydro-domain-{c}"),
)
