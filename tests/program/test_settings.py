from collections.abc import Iterable

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.settings import LONGEST, BadSettings, Settings, parse
from codec.toml_places import lines_of


def problems(text: str = "", overrides: Iterable[str] = ()) -> tuple[str, ...]:
    with pytest.raises(BadSettings) as caught:
        parse(text, source="c.toml", overrides=tuple(overrides))
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def test_nothing_given_is_four_systems_on_their_own_ports() -> None:
    settings = parse("", source="c.toml")
    assert settings == Settings()
    assert {name: each.port for name, each in settings.enabled().items()} == {
        "console": 5160,
        "sidekick": 5163,
        "judge": 10043,
        "agent": 3199,
    }


def test_a_file_sets_what_it_names_and_leaves_the_rest() -> None:
    settings = parse('[console]\nport = 0\nhost = "::1"\n[judge]\nenabled = false\n', source="c.toml")
    assert (settings.console.port, settings.console.host, settings.judge.enabled) == (0, "::1", False)
    assert settings.sidekick == Settings().sidekick


def test_localhost_means_both_loopbacks() -> None:
    settings = parse("", source="c.toml", overrides=["judge.host=127.0.0.2"])
    assert settings.console.addresses == ("127.0.0.1", "::1")
    assert settings.judge.addresses == ("127.0.0.2",)


@pytest.mark.parametrize("place", ["", "/srv/pyodide", "https://a.org/pyodide/v0.26.4/full/", "https://a.org:8443"])
def test_pyodide_is_in_a_folder_or_at_an_address_or_nowhere(place: str) -> None:
    settings = parse(f'[sidekick]\npyodide = "{place}"\nscripts = "/srv/scripts"', source="c.toml")
    assert (settings.sidekick.pyodide, settings.sidekick.scripts) == (place, "/srv/scripts")


def test_more_origins_may_draw_on_a_board_where_they_are_named() -> None:
    origins = ("https://tools.example", "http://[2001:db8::1]:8080", "HTTP://Box.lan", "my-editor://*")
    written = ", ".join(f'"{origin}"' for origin in origins)
    assert parse(f"[sidekick]\norigins = [{written}]", source="c.toml").sidekick.origins == origins
    assert parse("", source="c.toml", overrides=[f"sidekick.origins=[{written}]"]).sidekick.origins == origins


@pytest.mark.parametrize(
    ("given", "enabled", "folder"),
    [
        ([], False, "/tmp/copilot-evaluation"),
        (["ipc.enabled=true"], True, "/tmp/copilot-evaluation"),
        (["ipc.base=/srv/desk"], True, "/srv/desk"),
        (["ipc.base=/srv/desk", "ipc.enabled=false"], False, "/srv/desk"),
        (["ipc.enabled=false", "ipc.base=/srv/desk"], False, "/srv/desk"),
        (["ipc.base="], False, "/tmp/copilot-evaluation"),
        (["ipc.port=0"], False, "/tmp/copilot-evaluation"),
    ],
)
def test_the_desk_is_off_until_it_is_asked_for_or_has_a_base(given: list[str], enabled: bool, folder: str) -> None:
    settings = parse("", source="c.toml", overrides=given)
    assert ("ipc" in settings.enabled(), settings.ipc.folder) == (enabled, folder)


@pytest.mark.parametrize(("given", "command"), [("false", ""), ('""', ""), ('"code --wait /srv"', "code --wait /srv")])
def test_the_editor_is_a_command_or_none(given: str, command: str) -> None:
    assert parse(f"[ipc]\neditor = {given}", source="c.toml").ipc.editor_command == command


def test_what_is_disabled_is_not_among_the_enabled() -> None:
    assert "judge" not in parse("[judge]\nenabled = false", source="c.toml").enabled()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[consol]", "c.toml:1: consol is not a section. Did you mean console? The sections are console, sidekick"),
        ("\n[Judge]", "c.toml:2: Judge is not a section. Did you mean judge?"),
        ("[zzz]", "c.toml:1: zzz is not a section. The sections are console, sidekick, judge, ipc and agent"),
        ("port = 1", "c.toml:1: port is outside of any section; expected it under a heading such as [console]"),
        ("verbose = true", "c.toml:1: verbose is not a section."),
        ("console = 5160", "c.toml:1: console is a section; expected [console] with keys under it, got 5160"),
        ("[[console]]\nport = 1", "c.toml:1: console is a section; expected [console] with keys under it, got an"),
        ("[console]\n\nprot = 1", "c.toml:3: console.prot is not a setting. Did you mean console.port? [console]"),
        (
            "[sidekick]\nzzz = 1",
            "[sidekick] knows enabled, host, port, accounts, pyodide, scripts, origins and keep_boards",
        ),
        ("[console.inner]\nport = 1", "c.toml:1: console.inner is not a setting. [console] knows enabled, host"),
        ('[console]\n"a\\u001bb" = 1', 'c.toml:2: console."a\\u001bb" is not a setting.'),
        ("[console]\nport = true", "c.toml:2: console.port: expected a whole number from 0 to 65535"),
        ("[console]\nport = -1", "c.toml:2: console.port: expected a whole number from 0 to 65535"),
        ("[console]\nport = 65536", "got 65536"),
        ("[console]\nport = 80.0", "got 80.0"),
        ('[console]\nport = "80"', 'got "80"'),
        ("[console]\nport = [1]", "got an array"),
        ("[console]\nport = 1979-05-27", "got 1979-05-27"),
        ("[console]\nenabled = 1", "c.toml:2: console.enabled: expected true or false, got 1"),
        ("[console]\nhost = 1", 'c.toml:2: console.host: expected "localhost" or a loopback address such as'),
        ('[console]\nhost = "example.org"', 'got "example.org"'),
        ('[console]\nhost = "[::1]"', 'got "[::1]"'),
        ('[console]\nhost = ""', 'got ""'),
        (f'[console]\nhost = "{"x" * 500}"', "…"),
        ('[sidekick]\nscripts = "mine"', "sidekick.scripts: expected the absolute path of a folder such as"),
        ("[sidekick]\nscripts = 1", "sidekick.scripts: expected the absolute path of a folder such as"),
        ('[sidekick]\nscripts = "https://a.org/"', 'or "" for none, got "https://a.org/"'),
        ('[sidekick]\npyodide = "pyodide"', "sidekick.pyodide: expected the absolute path of a folder, an"),
        ('[sidekick]\npyodide = "http://a.org/"', 'got "http://a.org/"'),
        ('[sidekick]\npyodide = "https://a.org/; script-src *"', "begins with https://"),
        ('[sidekick]\npyodide = "https://me@a.org/"', "begins with https://"),
        ('[sidekick]\norigins = "https://a.org"', "sidekick.origins: expected an array of origins such as"),
        ("[sidekick]\norigins = [1]", "sidekick.origins: expected an array of origins such as"),
        ('[sidekick]\norigins = ["https://a.org", "b.org"]', 'sidekick.origins: "b.org" is not an origin; expected a'),
        ('[sidekick]\norigins = ["https://*"]', 'sidekick.origins: "https://*" is not an origin;'),
        ('[sidekick]\norigins = ["https://a.org/board"]', 'sidekick.origins: "https://a.org/board" is not an origin;'),
        ('[sidekick]\norigins = ["null"]', 'sidekick.origins: "null" is not an origin;'),
        ('[ipc]\nbase = "desk"', "ipc.base: expected the absolute path of a folder such as"),
        ('[ipc]\ndialect = "prompt"', 'ipc.dialect: expected "spec" (requests stay where they are) or "head"'),
        ("[ipc]\neditor = true", "ipc.editor: expected false, or the command that starts the editor, such as"),
        ('[ipc]\neditor = "code\\u0000"', "ipc.editor: expected false, or the command"),
        ("[ipc]\neditor = 1", "ipc.editor: expected false, or the command"),
        ('[ipc]\nmodel = "gpt"', 'ipc.model: expected "none", "echo" (a prompt is its own answer) or "agent"'),
        ("[ipc]\nconcurrency = 0", "ipc.concurrency: expected a whole number of commands at once, from 1 to 256"),
        ("[ipc]\ncommand_seconds = 0", "ipc.command_seconds: expected a number of seconds up to 86400"),
        ("[ipc]\ncommand_seconds = nan", "ipc.command_seconds: expected a number of seconds up to 86400"),
        ("[ipc]\nrescan_seconds = 0", "ipc.rescan_seconds: expected a number of seconds from 0.1 to 3600"),
        ('[ipc]\nbackoff = "none"', 'ipc.backoff: expected "jittered" (each retry waits longer, by chance) or'),
        ('[ipc]\nready = "yes"', 'ipc.ready: expected "wait" (for all of cold_start_seconds) or "ping"'),
        ("[agent]\nembedding_model = 1", 'agent.embedding_model: expected the name of a model, or "" for none'),
        ('[agent]\nembedding_server = "builtin"', 'agent.embedding_server: expected "ollama", "openai", "vllm" or'),
        (
            '[agent]\nembedding_model = "m"\nembedding_server = "vllm"',
            "c.toml:2: agent.embedding_model is asked of vllm, which has no address; expected one in agent.vllm, or",
        ),
        ("[ipc]\nretention_days = -1", "ipc.retention_days: expected a number of days from 0 (keep all) to 3650"),
        ("a = 1\nb = [1,,]", "c.toml:2:8: not valid TOML: Invalid value"),
        ("[console\nport = 1", "c.toml:1:9: not valid TOML: Expected ']'"),
        ("[console]\nport = ", "c.toml:2:8: not valid TOML: Invalid value"),
        ("[console]\r\nport = 1\r\nport = 2\r\n", "c.toml:3:9: not valid TOML: Cannot overwrite a value"),
        pytest.param("x = " + "[" * 9_000, "c.toml: not valid TOML: it holds brackets too deep", id="brackets"),
        pytest.param("x = " + "9" * 9_000, "c.toml: not valid TOML:", id="digits"),
        pytest.param("#" * (LONGEST + 1), "c.toml: the configuration is 65,537 characters long; expected", id="length"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_was_expected(text: str, expected: str) -> None:
    (problem,) = problems(text)
    assert expected in problem
    assert len(problem) < 300
    assert problem.isprintable()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "8.8.8.8", "fe80::1"])
def test_listening_off_loopback_is_refused_with_the_reason(host: str) -> None:
    (problem,) = problems(f'[console]\nhost = "{host}"')
    assert f'"{host}" can be reached from other machines, which needs a token and TLS' in problem


def test_everything_that_is_wrong_is_said_at_once_in_the_order_of_the_file_then_of_the_flags() -> None:
    found = problems(
        '[console]\nport = "x"\n[nope]\n[judge]\nenabled = 3\nhots = 1\n',
        ["judge.port=x", "sidekick.enabled=maybe", "zzz"],
    )
    assert [each.split(": ")[0] for each in found] == [
        "c.toml:2",
        "c.toml:3",
        "c.toml:5",
        "c.toml:6",
        "--set judge.port=x",
        "--set sidekick.enabled=maybe",
        "--set zzz",
    ]


def test_the_flags_are_judged_though_the_file_is_no_toml() -> None:
    assert len(problems("[", ["console.port=x"])) == 2


@pytest.mark.parametrize(
    ("flag", "section", "key", "value"),
    [
        ("console.port=0", "console", "port", 0),
        (" console . port = 8080 # why", "console", "port", 8080),
        ("console.host=127.0.0.1", "console", "host", "127.0.0.1"),
        ("console.host=::1", "console", "host", "::1"),
        ('console.host="::1"', "console", "host", "::1"),
        ("console.host=localhost", "console", "host", "localhost"),
        ("judge.enabled=false", "judge", "enabled", False),
    ],
)
def test_a_flag_is_read_as_toml_and_else_as_a_bare_string(flag: str, section: str, key: str, value: object) -> None:
    assert getattr(getattr(parse("", source="c.toml", overrides=[flag]), section), key) == value


def test_a_flag_wins_over_the_file_and_the_last_flag_over_the_first() -> None:
    settings = parse("[console]\nport = 1", source="c.toml", overrides=["console.port=2", "console.port=3"])
    assert settings.console.port == 3


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("console.port", "expected section.key=value, such as console.port=5160"),
        ("port=1", "expected section.key=value"),
        ("a.b.c=1", "expected section.key=value"),
        (".port=1", "expected section.key=value"),
        ("", "expected section.key=value"),
        ("consle.port=1", "consle is not a section. Did you mean console?"),
        ("console.prt=1", "console.prt is not a setting. Did you mean console.port?"),
        ("console.port=", 'expected a whole number from 0 to 65535 (0 takes any free port), got ""'),
        ("console.port=1\nconsole.host=::1", "got"),
        ("console.enabled=yes", 'expected true or false, got "yes"'),
        ("console.host=\x1b[31m", 'got "\\u001b[31m"'),
    ],
)
def test_a_wrong_flag_is_named_with_what_was_expected(flag: str, expected: str) -> None:
    (problem,) = problems(overrides=[flag])
    assert problem.startswith("--set ")
    assert expected in problem
    assert problem.isprintable()


def test_two_systems_on_one_port_are_named() -> None:
    (problem,) = problems("[judge]\nport = 5163")
    assert problem == "c.toml:2: sidekick.port and judge.port are both 5163; expected two different ports"


@pytest.mark.parametrize(
    "overrides",
    [
        ["judge.port=5163", "sidekick.port=1"],
        ["judge.port=5163", "sidekick.enabled=false"],
        ["judge.port=5163", "judge.host=127.0.0.2"],
        ["judge.port=0", "sidekick.port=0"],
    ],
)
def test_one_port_twice_is_fine_where_nothing_meets(overrides: list[str]) -> None:
    parse("", source="c.toml", overrides=overrides)


def test_a_flag_can_mend_two_ports_that_the_file_has_alike() -> None:
    assert parse("[judge]\nport = 5160", source="c.toml", overrides=["console.port=0"]).judge.port == 5160


TRICKY = '''\
# [console]
one = 1
text = """
[console]
port = 1
"""

a.b.c = { d = 1, e = [ { f = 1 } ] }
array = [
    1,  # ]
]
"quoted key" = "\u2028"
  [ x . "y" ]  # comment
z = 1
[[list]]
z = 2
[[list]]
y = 3
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("one",), 2),
        (("text",), 3),
        (("a",), 8),
        (("a", "b", "c", "d"), 8),
        (("array",), 9),
        (("quoted key",), 12),
        (("x",), 13),
        (("x", "y"), 13),
        (("x", "y", "z"), 14),
        (("list",), 15),
        (("list", "z"), 16),
        (("list", "y"), 18),
    ],
)
def test_the_line_of_a_key_is_where_its_statement_begins(path: tuple[str, ...], line: int) -> None:
    assert lines_of(TRICKY)[path] == line


LINES = st.sampled_from(
    [
        "[console]",
        "[judge]",
        "[[sidekick]]",
        "[a.b]",
        "port = 1",
        "host = '::1'",
        "x.y = {z = 1}",
        'x = """',
        '"""',
        "y = [",
        "]",
        "# #",
        "",
        "\x00",
        "=",
        "🦜 = 1",
    ]
)


@pytest.mark.slow
@hypothesis.settings(deadline=None)
@given(st.lists(LINES).map("\n".join) | st.text(), st.lists(st.text() | st.text().map("console.port={}".format)))
def test_whatever_is_given_is_either_settings_or_words(text: str, overrides: list[str]) -> None:
    said: tuple[str, ...] | None = None
    try:
        parse(text, source="c.toml", overrides=overrides)
    except BadSettings as bad:
        said = bad.problems
    assert said is None or (said and all(each.isprintable() for each in said))


@pytest.mark.parametrize("length", [0, 1, 57, 58, 59, 60, 500])
def test_a_value_is_shown_whole_if_it_is_readable_and_else_as_much_of_it_as_is(length: int) -> None:
    (problem,) = problems(f'[console]\nport = "{"x" * length}"')
    shown = f'"{"x" * length}"'
    assert problem.endswith(f"got {shown}" if len(shown) <= 60 else f"got {shown[:59]}…")
