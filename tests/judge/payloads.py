"""Problems as Competitive Companion posts them, of the sites that people use, and the folders they get."""

import json
from typing import Any, NamedTuple


class Payload(NamedTuple):
    url: str
    group: str
    name: str
    folder: str


PAYLOADS = (
    Payload(
        "https://atcoder.jp/contests/abc350/tasks/abc350_a",
        "AtCoder - AtCoder Beginner Contest 350",
        "A - Past ABCs",
        "abc350/abc350_a",
    ),
    Payload("https://atcoder.jp/contests/apg4b/tasks/APG4b_a", "AtCoder - C++入門", "1.00", "apg4b/APG4b_a"),
    Payload("https://beta.atcoder.jp/contests/arc080/tasks/arc080_b", "AtCoder", "D - Grid", "arc080/arc080_b"),
    Payload("https://abc001.contest.atcoder.jp/tasks/abc001_1", "AtCoder", "A - 積雪深差", "abc001/abc001_1"),
    Payload("https://atcoder.jp/contests/dp/tasks/dp_a?lang=en", "AtCoder - DP", "A - Frog 1", "dp/dp_a"),
    Payload("https://codeforces.com/contest/4/problem/A", "Codeforces - Round 4", "A. Watermelon", "codeforces-4/A"),
    Payload("https://codeforces.com/problemset/problem/234/A?locale=en", "Codeforces", "A. L", "codeforces-234/A"),
    Payload("https://m1.codeforces.com/contest/1900/problem/C2", "Codeforces", "C2. X", "codeforces-1900/C2"),
    Payload("https://codeforces.com/gym/101981/problem/J", "Codeforces", "J. Prime", "codeforces-gym-101981/J"),
    Payload(
        "https://codeforces.com/group/MWSDmqGsZm/contest/219856/problem/A",
        "Codeforces - Sheet #4 (Strings)",
        "A. Create A New String",
        "codeforces-group-219856/A",
    ),
    Payload(
        "https://codeforces.com/edu/course/2/lesson/3/1/practice/contest/272260/problem/A",
        "ITMO Academy: пилотный курс",
        "A. Наидлиннейший палиндромный префикс - 1",
        "codeforces-edu-272260/A",
    ),
    Payload(
        "https://codeforces.com/problemsets/acmsguru/problem/99999/100",
        "Codeforces - acm.sgu.ru archive",
        "100. A+B",
        "codeforces-acmsguru/100",
    ),
    Payload("https://open.kattis.com/problems/twostones", "Kattis", "Take Two Stones", "kattis/twostones"),
    Payload("https://open.kattis.com/contests/fj3k/problems/hello", "Kattis", "Hello", "kattis-contest-fj3k/hello"),
    Payload("https://nwerc23.kattis.com/problems/arcadegame", "Kattis", "Arcade", "kattis-nwerc23/arcadegame"),
    Payload("https://cses.fi/problemset/task/1094", "CSES - Problem Set", "Increasing Array", "cses/1094"),
    Payload("https://cses.fi/boi24/task/A", "CSES - BOI", "A", "cses-boi24/A"),
    Payload("https://leetcode.com/problems/two-sum/description/", "LeetCode", "1. Two Sum", "leetcode/two-sum"),
    Payload(
        "https://leetcode.com/contest/weekly-contest-400/problems/count-days/",
        "LeetCode",
        "Count Days",
        "leetcode-weekly-contest-400/count-days",
    ),
    Payload("https://www.luogu.com.cn/problem/P1001", "Luogu", "P1001 A+B Problem", "luogu/P1001"),
    Payload("https://www.luogu.com.cn/problem/P1001?contestId=7", "Luogu", "P1001 A+B Problem", "luogu/P1001"),
    Payload("https://qoj.ac/problem/1", "QOJ", "A + B Problem", "qoj/1"),
    Payload("https://qoj.ac/contest/1096/problem/5439", "QOJ - OCPC", "Meet in the Middle", "qoj-1096/5439"),
    Payload("https://contest.ucup.ac/contest/1830/problem/9738", "Universal Cup", "Make It", "ucup-1830/9738"),
    Payload(
        "https://www.hackerrank.com/challenges/solve-me-first/problem", "HackerRank", "S", "hackerrank/solve-me-first"
    ),
    Payload("https://www.hackerrank.com/contests/w38/challenges/minute", "HackerRank", "M", "hackerrank-w38/minute"),
    Payload("https://www.spoj.com/problems/PRIME1/", "SPOJ", "PRIME1 - Prime Generator", "spoj/PRIME1"),
    Payload("https://pl.spoj.com/problems/JPESEL/", "SPOJ", "JPESEL - Sprawdź PESEL", "spoj-pl/JPESEL"),
    Payload("https://yukicoder.me/problems/no/9002", "yukicoder", "No.9002 FizzBuzz", "yukicoder/9002"),
    Payload("https://onlinejudge.u-aizu.ac.jp/problems/ITP1_1_A", "Aizu", "Hello World", "aoj/ITP1_1_A"),
    Payload(
        "https://judge.u-aizu.ac.jp/onlinejudge/description.jsp?id=CGL_1_A&lang=en", "Aizu", "Projection", "aoj/CGL_1_A"
    ),
    Payload(
        "https://onlinejudge.u-aizu.ac.jp/courses/lesson/1/ALDS1/1/ALDS1_1_A", "Aizu", "Insertion", "aoj/ALDS1_1_A"
    ),
    Payload(
        "https://onlinejudge.u-aizu.ac.jp/services/room.html#RitsCamp19Day2/problems/A",
        "Aizu",
        "A",
        "aoj-room-RitsCamp19Day2/A",
    ),
    Payload("https://dmoj.ca/problem/aplusb", "DMOJ", "A Plus B", "dmoj/aplusb"),
    Payload("https://www.codechef.com/problems/FLOW001", "CodeChef - Practice", "Add Two", "codechef/FLOW001"),
    Payload("https://www.codechef.com/START50A/problems/ADDZERO", "CodeChef", "A", "codechef-START50A/ADDZERO"),
    Payload(
        "https://www.facebook.com/codingcompetitions/hacker-cup/2023/practice-round/problems/A1",
        "Meta Coding Competitions - Hacker Cup 2023 Practice Round",
        "A1: Cheeseburger Corollary 1",
        "hacker-cup-2023-practice-round/A1",
    ),
    Payload("https://www.facebook.com/hackercup/problem/910374079035613/", "F", "B", "hacker-cup/910374079035613"),
    Payload(
        "https://codingcompetitions.withgoogle.com/kickstart/round/00000000008caa74/0000000000acee89",
        "Google Coding Competitions - Round A 2022",
        "Speed Typing",
        "kickstart-00000000008caa74/0000000000acee89",
    ),
    Payload("https://www.acmicpc.net/problem/1000", "Baekjoon Online Judge", "A+B", "boj/1000"),
    Payload("https://judge.yosupo.jp/problem/aplusb", "Library Checker", "A + B", "library-checker/aplusb"),
    Payload("https://tlx.toki.id/contests/troc-30/problems/A", "TLX", "A. X", "tlx-troc-30/A"),
    Payload("https://acm.timus.ru/problem.aspx?space=1&num=1000", "Timus", "1000. A+B", "timus/1000"),
    Payload("http://poj.org/problem?id=1000", "POJ", "1000 - A+B Problem", "poj/1000"),
    Payload("https://acm.hdu.edu.cn/showproblem.php?pid=1000", "HDOJ", "A + B Problem", "hdu/1000"),
    Payload("https://vjudge.net/contest/414587#problem/B", "Virtual Judge", "B", "vjudge-414587/B"),
    Payload("https://contest.yandex.ru/contest/3/problems/C/", "Yandex", "C. Cutting", "yandex-3/C"),
    Payload("https://oj.uz/problem/view/IOI12_scrivener", "oj.uz", "Crayfish scrivener", "oj.uz/IOI12_scrivener"),
    Payload("https://judge.example.edu/contests/9/problems/3", "Spring", "Sums", "judge.example.edu-9/3"),
    Payload("https://judge.example.edu/problem/sums", "Spring", "Sums", "judge.example.edu/sums"),
    Payload(
        "https://usaco.example.org/index.php?page=view&cpid=1",
        "USACO - 2024 January",
        "P1. Cows",
        "usaco-2024-january/p1-cows",
    ),
    Payload("", "School League", "Der große Überblick", "school-league/der-grosse-überblick"),
)

SAMPLE = {"input": "1 2\n", "output": "3\n"}


def posted(**changes: Any) -> dict[str, Any]:
    """What the extension posts, with some of it changed; `...` takes a field out."""
    whole: dict[str, Any] = {
        "name": "A - Past ABCs",
        "group": "AtCoder - AtCoder Beginner Contest 350",
        "url": "https://atcoder.jp/contests/abc350/tasks/abc350_a",
        "interactive": False,
        "memoryLimit": 1024,
        "timeLimit": 2000,
        "tests": [SAMPLE],
        "testType": "single",
        "input": {"type": "stdin"},
        "output": {"type": "stdout"},
        "languages": {"java": {"mainClass": "Main", "taskClass": "APastABCs"}},
        "batch": {"id": "123e4567-e89b-12d3-a456-426614174000", "size": 1},
        **changes,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def body(**changes: Any) -> bytes:
    return json.dumps(posted(**changes)).encode()
