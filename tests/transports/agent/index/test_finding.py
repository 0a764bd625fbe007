"""Questions to an index: what they find, in which order, and what no answer may tell."""

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codec.agent.index.asking import IndexFindings, IndexQuery, SearchKind
from codec.agent.index.identifiers import humps_of
from codec.agent.index.wording import words_apart
from transports.agent.index.finding import findings
from transports.agent.index.reading import facts_of
from transports.agent.index.relating import relate
from transports.agent.index.schema import make_tables
from transports.agent.index.stems import stems_of
from transports.agent.index.symbol_search import MOST_SYMBOLS
from transports.agent.index.writing import IndexRows, TakenFile, file_words
from transports.folder.rooted import FileEntry

TREE = {
    "src/pool/connection.py": '''"""Connections of the pool."""

from pool.limits import MOST


class Connection:
    """One connection to the server."""

    def close(self):
        """Gives the socket back, and frees what it held."""
        self.socket.shutdown()
        self.pool.release(self)

    def openStream(self, host):
        return self.socket.connect(host, MOST)
''',
    "src/pool/limits.py": "MOST = 10\n\n\ndef close(count):\n    return count > MOST\n",
    "src/app.py": "from pool.connection import Connection\nfrom pool.limits import close\n\nConnection().close()\n",
    "tests/test_connection.py": "from pool.connection import Connection\n\n\ndef "
    "test_a_closed_connection_gives_the_socket_back():\n    connection = Connection()\n    connection.close()\n"
    "    assert connection.socket.given\n",
    "docs/connection.md": "# Connections\n\nA connection is closed with `close`, which gives the socket back.\n",
    "examples/close_connection.py": "from pool import Connection\n\n# a connection is closed, its socket given back\n"
    "Connection().close()\n",
    "secret/plans.py": "def overthrow_zanzibar():\n    connection = 'zanzibar'\n    return connection.close(socket)\n",
    "pyproject.toml": "[project]\nname = 'pool'\n",
    **{f"src/other/m{number}.py": f"def other_{number}():\n    return {number} + 1\n" for number in range(60)},
}


def index_of(files: Mapping[str, str]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    make_tables(connection)
    connection.execute("BEGIN")
    rows = IndexRows(connection)
    for path, text in files.items():
        facts = facts_of(path, text)
        rows.bring(TakenFile(path, FileEntry(len(text), 0, 0, 0), "digest", facts, file_words(path, facts)))
    rows.close()
    relate(connection)
    connection.execute("COMMIT")
    connection.execute("PRAGMA query_only = ON")
    return connection


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    connection = index_of(TREE)
    yield connection
    connection.close()


def everything(path: str) -> bool:
    return True


def asked(index: sqlite3.Connection, text: str, kind: SearchKind = "all", **rest: object) -> IndexFindings:
    return findings(index, IndexQuery(text=text, kind=kind, **rest), everything)  # type: ignore[arg-type]


def paths(found: IndexFindings) -> list[str]:
    return list(dict.fromkeys(hit.path for hit in found.hits))


@pytest.mark.parametrize("path", [*TREE, "a/r4_num.rs", "a/r13_r4_num.rs", "x/bsd/netbsd/x86.rs", "test/__init__.py"])
@pytest.mark.parametrize("form", ["{}", " `{}` "])
def test_a_whole_path_finds_its_file_first(path: str, form: str) -> None:
    more = {"x/bsd/netbsd/mod.rs": "// netbsd bsd x86 rs x\n" * 3, "a/r13_r4_num.rs": "fn r4_num() {}\n"}
    more |= {"a/r4_num.rs": "mod r13;\n", "x/bsd/netbsd/x86.rs": "fn a() {}\n", "test/__init__.py": ""}
    more |= {"src/__init__.py": "def test():\n    init = 1\n"}
    with closing(index_of(TREE | more)) as index:
        found = asked(index, form.format(path))
        assert found.hits[0].path == path
        assert "the question names its path" in [reason.said for reason in found.hits[0].reasons]


@pytest.mark.parametrize("name", ["gone.py", "_gone_of_it.py", "Gone.java", "gone.txt"])
def test_a_file_that_is_not_there_finds_nothing_that_is_called_like_its_ending(name: str) -> None:
    more = {"src/names.py": "def py_name():\n    pass\n\n\ndef python():\n    pass\n\n\ndef java_home():\n    pass\n"}
    with closing(index_of(TREE | more)) as index:
        assert not any(hit.kind for hit in asked(index, name).hits)


def test_a_file_that_is_not_there_finds_what_it_may_define() -> None:
    with closing(index_of(TREE)) as index:
        assert asked(index, "Connection.java").hits[0].symbol == "Connection"


@pytest.mark.parametrize("ending", ["pxi", "f90", "sol", "el", "fs", "vb", "v", "gd", "astro", "nix", "thrift", "y"])
def test_code_in_a_language_without_a_grammar_counts_as_code(ending: str) -> None:
    said = "no elements in this sequence of numbers"
    doc = "".join(f"Elements of a sequence, numbers in no order, part {number}.\n\n" for number in range(30))
    more = {f"src/empty.{ending}": f'x\nraise("{said}")\n', "docs/sequence.md": doc, "src/data.json": f'["{said}"]'}
    with closing(index_of(TREE | more)) as index:
        assert paths(asked(index, f"ValueError: {said}"))[0] == f"src/empty.{ending}"


LONG = "".join(f"def step_{number}(value):\n    return value + {number}\n\n\n" for number in range(200))
"""Of 800 lines."""


@pytest.mark.parametrize(
    "form",
    ["{}:{}", "error at {}:{}:7", 'File "/home/me/src/steps.py", line {1}, in step', "what is in line {1} of {0}?"],
)
@pytest.mark.parametrize("line", [1, 121, 402, 797])
@pytest.mark.parametrize("path", ["src/steps.py", "steps.py"])
def test_a_line_that_the_question_names_is_the_first_place(form: str, line: int, path: str) -> None:
    tree = TREE | {"src/steps.py": LONG, "lib/others.py": LONG, "docs/steps.md": "Steps, and line 121 of it.\n"}
    with closing(index_of(tree)) as index:
        first = asked(index, form.format(path, line)).hits[0]
        assert (first.path, first.line) == ("src/steps.py", line)
        assert first.first_line <= line <= first.last_line
        assert first.symbol == f"step_{line // 4}"
        assert f"the question names line {line}" in [reason.said for reason in first.reasons]


def test_of_a_stack_trace_each_line_in_a_file_of_the_folder_is_found() -> None:
    tree = TREE | {"src/steps.py": LONG, "src/more.py": LONG}
    frames = [("src/steps.py", 14), ("src/more.py", 402), ("src/steps.py", 602), ("lib/site-packages/x.py", 3)]
    trace = "\n".join(f'  File "/srv/{path}", line {line}, in step' for path, line in frames)
    with closing(index_of(tree)) as index:
        found = [(hit.path, hit.line) for hit in asked(index, f"{trace}\nValueError: too much").hits if hit.line]
        assert sorted(found) == sorted(frames[:3])


@pytest.mark.parametrize("line", [801, 100_000])
def test_a_line_that_a_file_does_not_have_is_said_of_no_place(line: int) -> None:
    with closing(index_of(TREE | {"src/steps.py": LONG})) as index:
        found = asked(index, f"src/steps.py:{line}")
        assert found.hits[0].path == "src/steps.py"
        assert not any(hit.line for hit in found.hits)


def test_a_line_of_a_file_that_may_not_be_read_is_not_told() -> None:
    with closing(index_of(TREE)) as index:
        query = IndexQuery(text="secret/plans.py:2")
        assert not any(hit.line for hit in findings(index, query, lambda path: not path.startswith("secret")).hits)


def test_what_is_said_of_a_place_s_words_is_true_of_the_lines_that_are_shown() -> None:
    lines = {path: text.split("\n") for path, text in TREE.items()}
    with closing(index_of(TREE)) as index:
        for text in ("Connection.close", "how is the socket given back", "close count MOST", "poo", "openStream hos"):
            for hit in asked(index, text).hits:
                part = "\n".join(lines[hit.path][hit.first_line - 1 : hit.last_line])
                stems = set(stems_of([*words_apart(part), *words_apart(humps_of(part))]).values())
                for said in (reason.said for reason in hit.reasons):
                    if (words := re.fullmatch(r"has (?:the word |\d+ of \d+ words: )(.*)", said)) is not None:
                        asked_for = words[1].split(", ")
                        assert set(stems_of(asked_for).values()) <= stems, (text, hit)
                    if (begun := re.fullmatch(r"has a word that begins with (.*)", said)) is not None:
                        assert re.search(rf"(?i)(?<![^\W_]){begun[1]}", part), (text, hit)


NUMBERED = ("x509", "v2", "utf8Names", "k8s", "sha256sum", "HTTP2Server", "base64", "s3", "moved1", "moved2", "v3")


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("form", ["{}", "{} how it is done", "where is the {} thing"])
def test_a_name_with_digits_in_a_path_finds_that_path_before_those_that_have_a_part_of_it(
    name: str, form: str
) -> None:
    """They stand in paths only."""
    text = "def done(thing):\n    return thing\n"
    tree = {f"src/{each}/module.py": text for each in NUMBERED} | {f"lib/{each}.py": text for each in NUMBERED}
    tree |= {f"src/other/m{number}.py": text for number in range(60)}
    with closing(index_of(tree)) as index:
        for asked_name in (name, name.lower(), name.upper()):
            found = paths(asked(index, form.format(asked_name)))[:2]
            assert set(found) == {f"src/{name}/module.py", f"lib/{name}.py"}, asked_name


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("how is a connection closed and the socket given back", "src/pool/connection.py"),
        ("Connection.close", "src/pool/connection.py"),
        ("limits.close", "src/pool/limits.py"),
        ("openStream", "src/pool/connection.py"),
        ("open_stream", "src/pool/connection.py"),
        ("openstre", "src/pool/connection.py"),  # still being typed
        ("opneStream", "src/pool/connection.py"),  # mistyped
        ("Stream", "src/pool/connection.py"),  # its end
        ("poenStream", "src/pool/connection.py"),  # from its beginning on
        ("def openStream(", "src/pool/connection.py"),
        ("tests of how a connection gives the socket back", "tests/test_connection.py"),
        ("where is closing a connection documented", "docs/connection.md"),
        ("docs about the connection giving its socket back", "docs/connection.md"),
        ("example of a connection that is closed", "examples/close_connection.py"),
        ("what is in pyproject.toml", "pyproject.toml"),
        ("src/app.py", "src/app.py"),
    ],
)
def test_a_question_finds_first_what_answers_it(index: sqlite3.Connection, text: str, first: str) -> None:
    assert paths(asked(index, text))[0] == first


CALLED = {
    **TREE,
    "package.json": '{"name": "pool"}\n',
    "README.rst": "Pool\n====\n\nWhat it is for.\n",
    "docs/README.rst": "Docs\n====\n\nHow they are built: see README.\n",
    "src/answer.py": "class Answer:\n    def json(self):\n        return self.package\n\n\nPYPY = json = read_me = 1\n",
    "src/readme_reader.py": "README = 'README.rst'\nREADME_TOO = README\n\n\ndef pick(readme):\n    return README\n",
    "src/pick_up.py": "from readme_reader import pick\n",
    "tests/test_pick.py": "def pick():\n    '''pick: pick, pick'''\n    return pick\n",
    "src/Ä/Ö.py": "umlaut = 1\n",
}


@pytest.fixture(scope="module")
def called() -> Iterator[sqlite3.Connection]:
    connection = index_of(CALLED)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("package.json", "package.json"),  # and no json in a package
        ("Package.JSON", "package.json"),
        ("app.py", "src/app.py"),  # and nothing that begins with py
        ("limits.py", "src/pool/limits.py"),
        ("src/Ä/Ö.py", "src/Ä/Ö.py"),
        ("/home/me/site-packages/pool/limits.py", "src/pool/limits.py"),
        ('File "/usr/lib/python3/pool/limits.py", line 5, in close', "src/pool/limits.py"),
        ("b/src/pool/limits.py", "src/pool/limits.py"),  # from a diff
        ("pick", "src/readme_reader.py"),  # a definition in code comes before a test's
    ],
)
def test_what_is_named_comes_first(called: sqlite3.Connection, text: str, first: str) -> None:
    assert paths(asked(called, text))[0] == first


def test_definitions_are_not_sought_by_the_ending_of_a_file(called: sqlite3.Connection) -> None:
    assert not any("PY" in hit.symbol for hit in asked(called, "limits.py", "symbols").hits)


def test_a_word_may_be_the_name_of_a_file_the_nearest_to_the_top_first(called: sqlite3.Connection) -> None:
    found = asked(called, "readme")
    assert [path for path in paths(found) if "README" in path] == ["README.rst", "docs/README.rst"]
    assert paths(found).index("docs/README.rst") < 3
    hit = next(hit for hit in found.hits if hit.path == "README.rst")
    assert "the file is called readme" in [reason.said for reason in hit.reasons]


@pytest.mark.parametrize("text", ["nowhere/limits.py", "/etc/app.py", "limits.toml"])
def test_a_path_that_only_ends_like_a_file_names_none(called: sqlite3.Connection, text: str) -> None:
    said = [reason.said for hit in asked(called, text).hits for reason in hit.reasons]
    assert "the question names its path" not in said


def test_a_file_that_is_not_there_is_not_taken_for_a_name_that_is_spelled_nearly_so() -> None:
    with closing(index_of({"told.py": "def told():\n    pass\n", "other.py": "config = 1\n"})) as index:
        assert paths(asked(index, "config.toml")) == ["other.py"]


def test_of_very_many_definitions_those_count_that_stand_in_no_other_one() -> None:
    many = "".join(f"def test_{number}():\n    class Pool:\n        pass\n\n\n" for number in range(MOST_SYMBOLS))
    with closing(index_of({"aaa/test_pool.py": many, "src/base.py": "class Pool:\n    pass\n"})) as index:
        assert paths(asked(index, "Pool"))[0] == "src/base.py"


def said_by(places: Mapping[str, str]) -> sqlite3.Connection:
    """Each of these files raises its message; others have all the words, oftener."""
    raising = {
        path: f"def check(user):\n    if user:\n        raise Trouble(\n{said}\n        )\n"
        for path, said in places.items()
    }
    words = "basket user empty order reached limit daily"
    usual = {f"src/{word}_{n}.py": f"{word} = 1\n{words}\n{words}\n" for n in range(8) for word in words.split()}
    return index_of({**usual, **raising})


@pytest.mark.parametrize(
    "asked_for",
    [
        "The basket of this user has reached its daily limit",
        "shop.Trouble: The basket of this user has reached its daily limit.",
        '  File "/srv/app/shop.py", line 7, in check\n    raise Trouble(\n'
        "Trouble: The basket of this user has reached its daily limit.",
        "THE BASKET OF USER 4711 HAS REACHED ITS DAILY LIMIT",  # a part of it, as a template has it
        '"has reached its"',  # no word of it tells anything
        '"basket of this" "daily limit"',
    ],
)
def test_a_message_finds_where_it_is_said_however_often_others_have_its_words(asked_for: str) -> None:
    message = '            "The basket of this user has "\n            "reached its daily limit."'
    with closing(said_by({"src/place.py": message})) as index:
        first = asked(index, asked_for).hits[0]
    assert first.path == "src/place.py"
    assert any(reason.said.startswith("has, word for word: ") for reason in first.reasons)


def test_what_a_place_has_word_for_word_stands_in_its_lines() -> None:
    """Also if the definition that the question names is another one of the same chunk."""
    text = 'def basket():\n    return []\n\n\ndef other():\n    raise Trouble("the limit of today is reached")\n'
    with closing(index_of({**TREE, "src/place.py": text})) as index:
        hit = asked(index, "basket() says: the limit of today is reached").hits[0]
    assert (hit.path, hit.symbol) == ("src/place.py", "basket")
    (said,) = [reason.said for reason in hit.reasons if reason.said.startswith("has, word for word: ")]
    shown = " ".join(text.splitlines()[hit.first_line - 1 : hit.last_line])
    assert said.removeprefix("has, word for word: ") in shown


def test_only_places_with_what_is_in_quotes_are_found_unless_there_is_none() -> None:
    with closing(said_by({"src/a.py": '"the basket is empty"', "src/b.py": '"is the basket empty"'})) as index:
        assert paths(asked(index, '"the basket is empty"', "text")) == ["src/a.py"]
        assert paths(asked(index, '"basket is" "is empty"', "text")) == ["src/a.py"]
        assert len(paths(asked(index, '"empty the basket"', "text"))) > 2
        assert len(paths(asked(index, 'where is "the basket is empty" said', "text"))) > 2


def test_a_hit_is_the_definition_with_its_lines_and_says_why(index: sqlite3.Connection) -> None:
    hit = asked(index, "Connection.close").hits[0]
    assert (hit.symbol, hit.kind, hit.first_line, hit.last_line) == ("Connection.close", "method", 9, 12)
    said = [reason.said for reason in hit.reasons]
    assert said[0] == "defines Connection.close"
    assert "its path has: connection" in said
    assert any(each.startswith("is imported by ") for each in said)


@pytest.mark.parametrize("kind", ["all", "symbols", "text"])
def test_only_the_stages_that_were_run_are_told(index: sqlite3.Connection, kind: SearchKind) -> None:
    stages = [stage.stage for stage in asked(index, "close the connection", kind).stages]
    expected = {"all": ["symbol_search", "text_search"], "symbols": ["symbol_search"], "text": ["text_search"]}
    assert stages == [*expected[kind], "reranking"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Connection.close", "src/pool/connection.py"),
        ("connection.close", "src/pool/connection.py"),
        ("limits.close", "src/pool/limits.py"),
        ("pool.limits.close", "src/pool/limits.py"),
    ],
)
def test_a_name_that_says_its_class_or_its_file_means_the_one_that_is_there(
    index: sqlite3.Connection, name: str, path: str
) -> None:
    assert paths(asked(index, name, "symbols")) == [path]
    assert len(paths(asked(index, "close", "symbols"))) > 1


def test_symbols_are_found_by_words_of_their_names(index: sqlite3.Connection) -> None:
    assert asked(index, "stream open", "symbols").hits[0].symbol == "Connection.openStream"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a pool of idle workers", "defines IdleWorkers, written in another way"),
        ("when are the idle-workers trimmed", "defines IdleWorkers, written in another way"),
        ("what does drop stale do with workers", "defines drop_stale"),
    ],
)
def test_two_words_of_a_question_find_the_definition_that_is_called_so(text: str, said: str) -> None:
    """It comes before a long file that has the words again and again."""
    step = "def step_{0}(pool):\n    return pool.idle(workers={0}).drop() or pool.stale\n\n\n"
    usage = "".join(step.format(number) for number in range(40))
    defined = "class IdleWorkers:\n    size = 1\n\n\ndef drop_stale(each):\n    del each\n"
    index = index_of({"src/usage.py": usage, "src/kept.py": defined, "src/other.py": "def other():\n    return 1\n"})
    first = asked(index, text).hits[0]
    assert first.path == "src/kept.py"
    assert said in [reason.said for reason in first.reasons]


def test_no_more_hits_of_a_file_than_were_asked_for(index: sqlite3.Connection) -> None:
    found = asked(index, "close connection socket pool MOST", per_file=1)
    assert max(Counter(hit.path for hit in found.hits).values()) == 1
    assert len(asked(index, "close connection", most=2).hits) == 2
    assert asked(index, "close connection", most=0).hits == ()


def test_what_the_policy_denies_is_in_no_hit_no_count_and_no_reason(index: sqlite3.Connection) -> None:
    without = index_of({path: text for path, text in TREE.items() if not path.startswith("secret/")})

    def readable(path: str) -> bool:
        return not path.startswith("secret/")

    for text in ("zanzibar", "overthrow_zanzibar", "overthrow", "plans", "secret/plans.py", "overthrow_zanzibra"):
        query = IndexQuery(text=text, active_file="secret/plans.py", open_files=("secret/plans.py",))
        found = findings(index, query, readable)
        assert not any("secret" in hit.path or "zanzibar" in str(hit.symbol) for hit in found.hits)
        assert "plans" not in "".join(reason.said for hit in found.hits for reason in hit.reasons).replace(text, "")
        assert [stage.count for stage in found.stages][-1] == len(found.hits)
        assert paths(found) == paths(findings(without, query, everything))
    without.close()


def test_an_answer_is_always_the_same(index: sqlite3.Connection) -> None:
    other = index_of(dict(reversed(TREE.items())))
    for text in ("close the connection", "socket", "pool", "Connection", "given back"):
        assert asked(index, text) == asked(index, text)
        assert paths(asked(other, text)) == paths(asked(index, text))
    other.close()


OPERATORS = (
    """ " "" ' * close* a|OR NEAR(a|b) ^a body:close {body|path}:close AND NOT a|AND|NOT ( ) - + : % _ ?1 -- /* """
)
ODD = (
    *("", " ", "\0", "a\0b", "😀", "x" * 10_000, "close " * 5_000, "\\", "; DROP TABLE file"),
    *("\ud800", "close\ud800", "\ufb00", "\u0130", "ß", "\u0301", "日本語", "\U0010ffff"),
    *(each.replace("|", " ") for each in OPERATORS.split()),
)


@pytest.mark.parametrize("kind", ["all", "symbols", "text", "vectors"])
def test_any_odd_text_is_a_question(index: sqlite3.Connection, kind: SearchKind) -> None:
    for text in ODD:
        found = asked(index, text, kind, active_file="src/app.py", open_files=("", "\0", "none.py"))
        assert all(hit.path in TREE for hit in found.hits)
    assert paths(asked(index, 'close" OR "zanzibar'))  # the quotes are not FTS5's


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=60), st.sampled_from(["all", "symbols", "text"]))
def test_no_text_makes_a_question_fail(index: sqlite3.Connection, text: str, kind: SearchKind) -> None:
    found = asked(index, text, kind, active_file=text if text.isprintable() else "")
    assert all(hit.path in TREE and hit.reasons for hit in found.hits)


def test_the_file_in_the_editor_counts_more(index: sqlite3.Connection) -> None:
    alone = {hit.path: hit.score for hit in asked(index, "connection socket").hits}
    shown = asked(index, "connection socket", active_file="docs/connection.md")
    (hit,) = [hit for hit in shown.hits if hit.path == "docs/connection.md"]
    assert hit.score > alone["docs/connection.md"]
    assert "the editor shows it" in [reason.said for reason in hit.reasons]


def test_an_empty_index_has_no_answer() -> None:
    empty = index_of({})
    assert asked(empty, "anything at all").hits == ()
    empty.close()


@cache
def library() -> sqlite3.Connection:
    root = Path(os.__file__).parent
    packages = ("asyncio", "email", "http", "json", "logging", "xml", "unittest", "importlib", "concurrent", "urllib")
    places = [place for package in packages for place in sorted((root / package).rglob("*.py"))]
    return index_of({str(place.relative_to(root)): place.read_text("utf-8") for place in places})


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_name_that_is_defined_once_is_found_first() -> None:
    index = library()
    unique = index.execute(
        "SELECT name, path, line FROM symbol JOIN file ON file.id = symbol.file"
        " GROUP BY lower(name) HAVING count(*) = 1 AND length(name) > 3 ORDER BY name"
    ).fetchall()
    sample = Random(1).sample(unique, 500)
    missed = []
    for name, path, line in sample:
        hit = asked(index, name, most=3).hits[0]
        if (hit.path, hit.first_line) != (path, line):
            missed.append((name, hit.path, hit.first_line))
    assert len(missed) <= 10, missed


def test_who_may_not_be_read_is_not_counted_among_those_who_import(index: sqlite3.Connection) -> None:
    def readable(path: str) -> bool:
        return not path.startswith("tests/")

    (every, *_), (some, *_) = (
        findings(index, IndexQuery(text="Connection.close"), may).hits for may in (everything, readable)
    )
    counts = [[each.said for each in hit.reasons if "imported" in each.said] for hit in (every, some)]
    assert counts == [["is imported by 2 files"], ["is imported by 1 file"]]
