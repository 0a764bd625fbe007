"""What is read of a shell's line: the commands that it runs, why it is not clear, and the files that it writes.

The table is what the verdicts rest on. Where a line is not clear, the commands still are all that could be found.
"""

import pytest
from hypothesis import given

from codec.agent.policy.leaves import NONE, findings
from codec.agent.policy.shell import LONGEST_LINE, MOST_SIGNS, UNCLEAR, Words, _strictly, read_line
from tests.agent.codec.policy.test_policy_law import lines

CLEAR: list[tuple[str, list[Words]]] = [
    ("npm test", [("npm", "test")]),
    ("  a\tb  ", [("a", "b")]),
    ("! a", [("a",)]),
    ("a || b && (c; d)", [("a",), ("b",), ("c",), ("d",)]),
    ("{ a; }; b | c\nd\n", [("a",), ("b",), ("c",), ("d",)]),
    ("a 2>&1 1>&2 >/dev/null 2>> /dev/null </dev/null", [("a",)]),
    ("a 'x!y' 'b c' \"d e\" f\\ g h'i'\"j\"", [("a", "x!y", "b c", "d e", "f g", "hij")]),
    ("a '' \"\" b", [("a", "", "", "b")]),
    ('a \\\' "b\\c"', [("a", "'", "b\\c")]),
    ("a in", [("a", "in")]),
    ("é x", [("é", "x")]),
    ("-a b~ c^ d#", [("-a", "b~", "c^", "d#")]),
    ("A/b=c", [("A/b=c",)]),
]
UNCLEAR_ONES: list[tuple[str, list[Words], str]] = [
    ("a $x b", [("a", None, "b")], "expansion"),
    ("a $((1+2))", [("a", None)], "expansion"),
    ('a "$((1+2))"', [("a", None)], "expansion"),
    ("$x b", [(None, "b")], "expansion"),
    ("=b", [("=b",)], "expansion"),
    ("a =b", [("a", "=b")], "expansion"),
    ("echo $(rm -rf x)", [("echo", None), ("rm", "-rf", "x")], "substitution"),
    ('echo "$(id) x" y', [("echo", None, "y"), ("id",)], "substitution"),
    ("echo a`id`b", [("echo", "a", None), ("id",)], "substitution"),
    ("a <(id) >(ls)", [("a", None, None), ("id",), ("ls",)], "substitution"),
    ("a *.py", [("a", None)], "glob"),
    ("a?b", [(None,)], "glob"),
    ("a ] b", [("a", "]", "b")], "glob"),
    ("a {b,c}", [("a", None)], "braces"),
    ("a {} b", [("a", None, "b")], "braces"),
    ("a { b", [("a", None, "b")], "braces"),
    ("a ~/x", [("a", "~/x")], "home"),
    ("a\\\nb c", [("a", "b", "c")], "escape"),
    ('a "x\\\ny" z', [("a", "xy", "z")], "escape"),
    ("a 'b\\'", [("a", "b\\")], "escape"),
    ('a "d\\"e"', [("a", 'd"e')], "escape"),
    ("a ^b", [("a", "^b")], "history"),
    ("a !b", [("a", "!b")], "history"),
    ('a "x!y"', [("a", "x!y")], "history"),
    ("a # b", [("a",)], "comment"),
    ("a & b", [("a",), ("b",)], "background"),
    ("a &&& b", [("a",), ("b",)], "background"),
    ("A=b", [], "assignment"),
    ("A=b c", [("c",)], "assignment"),
    ("A=$(id) B=c d", [("d",), ("id",)], "assignment"),
    ("export A=$(id) x", [("export", None, None), ("id",)], "assignment"),
    ("unset A B", [("unset", None, None)], "assignment"),
    ("declare -x A=b", [("declare", "-x", None)], "assignment"),
    ("f() { rm x; }", [("rm", "x")], "function"),
    ("function f { a; }", [("a",)], "function"),
    ("a (b)", [("a", None), ("b",)], "function"),
    ("a <<E\nb $(id)\nE", [("a",), ("id",)], "heredoc"),
    ("a <<< word", [("a",)], "heredoc"),
    ("(a <<E", [("a",)], "heredoc"),
    ('a x"$y"z', [("a", None)], "expansion"),
    ("[ -f x ]", [("[", None, "]")], "control"),
    ("[[ $(id) ]]", [("[[", None, "]]"), ("id",)], "control"),
    ("if a; then b; else c; fi", [("a",), ("b",), ("c",)], "control"),
    ("while a; do b; done", [("a",), ("b",)], "control"),
    ("for a in $(id); do c; done", [("id",), ("c",)], "control"),
    ("case x in a) b;; esac", [("b",)], "control"),
    ("coproc a", [("coproc", "a")], "control"),
    ("in", [("in",)], "control"),
    ("(a) if", [("a",)], "control"),
    ("a )", [("a",)], "error"),
    ("a '", [("a",)], "error"),
    ('a "', [("a",)], "error"),
    ("(a", [("a",)], "error"),
    ("(a))", [("a",)], "error"),
    ("{ a; } b", [("a",), ("b",)], "error"),
    ("a && ", [("a",), ("",)], "error"),
    ('a "$x', [("a",)], "expansion"),
    ("a |& b", [("a",), ("b",)], "odd"),
    ("a;; b", [("a",), ("b",)], "odd"),
    ("((1))", [], "odd"),
    ("a\x01", [("a\x01",)], "unseen"),
    ("a\u200bb", [("a\u200bb",)], "unseen"),
    ("a\u00a0b", [("a\u00a0b",)], "unseen"),
    ("a\rb", [("a", "b")], "unseen"),
    ("a\x85b", [("a\x85b",)], "unseen"),
    ("a\u2028b", [("a\u2028b",)], "unseen"),
    ("a\u2029b", [("a\u2029b",)], "unseen"),
    ("a\ud800b", [("a\ud800b",)], "unseen"),
    ("\ue000 a", [("\ue000", "a")], "unseen"),
]
WRITES = [
    ("a > x", ("x",)),
    ("a>x >>'y z' 2> \"e\"", ("x", "y z", "e")),
    ("a >| x", ("x",)),
    ("a &> x", ("x",)),
    ("a &>> x", ("x",)),
    ("a >& x", ("x",)),
    ("a <> x", ("x",)),
    ("a 1<> x", ("x",)),
    ("a > 2", ("2",)),
    ("a < x", ()),
    ("a <& x", ()),
    ("a 2>&1 >&2 2>&- >&2-", ()),
    ("a > $x", ()),
    ("a > x$y", ()),
    ("a < x > y", ("y",)),
    ("a > x b", ("x",)),
    ("a > x b 2> y c", ("x", "y")),
    ("a > $x b", ()),
    ("a < x b", ()),
    ("if a; then b; fi > x c", ("x",)),
    ("(a; b > y) 2> z", ("y", "z")),
    ("if a; then b; fi > x", ("x",)),
    ("A=b > x", ("x",)),
    ("echo $(a > x)", ("x",)),
]


@pytest.mark.parametrize(("line", "commands"), CLEAR)
def test_a_plain_line_runs_its_commands_and_nothing_else(line: str, commands: list[Words]) -> None:
    read = read_line(line)
    assert read.unclear == ""
    assert [each.words for each in read.commands] == commands
    assert not read.writes or read.writes == ("/dev/null",) * len(read.writes)


@pytest.mark.parametrize(("line", "commands", "unclear"), UNCLEAR_ONES)
def test_of_a_line_that_is_not_clear_all_commands_are_found_and_it_is_said_why(
    line: str, commands: list[Words], unclear: str
) -> None:
    read = read_line(line)
    assert [each.words for each in read.commands] == commands
    assert read.unclear == unclear


def test_there_is_a_line_for_each_way_of_not_being_clear() -> None:
    assert {unclear for _, _, unclear in UNCLEAR_ONES} == UNCLEAR.keys() - {"long", "redirection"}


@pytest.mark.parametrize(("line", "writes"), WRITES)
def test_the_files_that_a_line_writes_are_told_however_that_is_written(line: str, writes: tuple[str, ...]) -> None:
    read = read_line(line)
    assert read.writes == writes
    assert read.unclear


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("a > x b 'c d'", [("a", "b", "c d")]),
        ("a b 2> x c >> y d", [("a", "b", "c", "d")]),
        ("a < x b", [("a", "b")]),
        ("a 2>&1 b", [("a", "b")]),
        ("a 2>/dev/null b", [("a", "b")]),
        ("a <<< x b", [("a", "b")]),
        ("a <<E b c\nE", [("a", "b", "c")]),
        ("a | b > x c | d > y e", [("a",), ("b", "c"), ("d", "e")]),
        ("a > x $(b) c > y d", [("a", None, "c", "d"), ("b",)]),
        ("> x a b", [("a", "b")]),
        ("> x", []),
        ("2> x > y z w", [("z", "w")]),
        ("a; b > x c", [("a",), ("b", "c")]),
    ],
)
def test_words_behind_a_redirection_belong_to_the_command_before_it(line: str, commands: list[Words]) -> None:
    assert [each.words for each in read_line(line).commands] == commands


@pytest.mark.parametrize(("line", "is_plain"), [("a b", True), ("'a' b", False), ("\\a b", False), ("a\\b", False)])
def test_it_is_told_whether_the_program_is_written_as_it_is(line: str, is_plain: bool) -> None:
    assert [each.plain for each in read_line(line).commands] == [is_plain]


def test_a_line_is_read_up_to_a_length_and_up_to_so_many_signs() -> None:
    assert read_line("a" * LONGEST_LINE).unclear == ""
    assert read_line("a" * (LONGEST_LINE + 1)).unclear == "long"
    signs = "echo " + "'(' " * MOST_SIGNS
    assert read_line(signs).unclear == ""
    assert read_line(signs + "'('").unclear == "long"


STRICT = [
    ("(a)b", "odd"),
    ("(a)if", "control"),
    ("(a)(b)", "function"),
    ("a (b)", "function"),
    ("a { b", "braces"),
    ("a ! b", "history"),
    ("if", "control"),
    ("(a", "error"),
    ("a)", "error"),
    ("a $(b)", "substitution"),
    ("a $((b))", "expansion"),
    ("a <(b)", "substitution"),
    ("a <<b", "heredoc"),
]


@pytest.mark.parametrize(("line", "why"), STRICT)
def test_the_strict_reader_stops_by_itself_also_where_the_other_one_would(line: str, why: str) -> None:
    assert _strictly(line) == why


def test_a_pair_of_braces_without_a_blank_behind_it_is_none() -> None:
    assert _strictly("{ a; } 2>&1 | b") == [("a",), ("b",)]
    assert read_line("{ a; }b").unclear


def test_each_part_of_a_line_that_is_not_clear_says_why() -> None:
    def kinds(line: str) -> list[str]:
        return [each.kind for each in findings(read_line(line), NONE)]

    *_, last = findings(read_line("a b $x"), NONE)
    assert '"a b …"' in last.unclear
    assert kinds("a $x; b") == ["expansion", "expansion", ""]
    assert kinds("sh -c 'c *; d'; e") == ["glob", "expansion", "", ""]
    assert kinds("sh -c ''; sh -c 'A=b'") == ["wrapper", "assignment", "wrapper"]
    assert kinds("sudo d; alias e; find . -delete") == ["wrapper", "altering", "option"]
    assert kinds("cd; cd ..; cd a; ./b; /e") == ["folder", "", "folder", "", "", "folder", "", "folder", ""]


@given(lines)
def test_every_line_is_read_and_whatever_runs_has_a_finding(line: str) -> None:
    read = read_line(line)
    assert read.unclear == "" or read.unclear in UNCLEAR
    assert all(each.words for each in read.commands)
    found = list(findings(read, NONE))
    assert bool(found) == bool(read.commands or read.unclear)
    assert bool(read.unclear) <= any(each.kind == read.unclear for each in found)
