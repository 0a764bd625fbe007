"""All settings, and the texts that tell a user what is wrong with a value.

Settings come from one TOML file and from `section.key=value` flags, which override the file. Both are checked together.
So a flag can resolve a conflict between two keys of the file, and all mistakes are reported at once: nobody should have
to start a server five times to find five typing errors.

Every error names the place (`config.toml:3`, or the flag), the dotted path, what was expected and what came. To find
the place of a key we need no TOML parser of our own: each statement of a valid TOML text is itself a valid TOML text,
so lines are gathered until they parse.

To add a setting, add a field. An error quotes its `Meta` description as what was expected.
"""

import difflib
import ipaddress
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import PurePath
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import fields

from codec.agent.addresses import LOOPBACK, is_never_asked
from codec.judge import Commands, Compare, RunSettings
from codec.judge.settings import LONGEST_TIMEOUT, CompareMode, CwdMode, Interpreter
from codec.toml_places import lines_of, where_toml_broke
from codec.words import listed

LONGEST = 65_536
"""Characters in a configuration file. Ours has a dozen keys; anything this long is another file."""

LONGEST_COMMAND, MOST_COMMANDS = 1_000, 32

DEFAULT_BASE = "/tmp/copilot-evaluation"  # noqa: S108 - the contract's; the folder is checked to be ours alone
BOTH_LOOPBACKS = ("127.0.0.1", "::1")

Switch = Annotated[bool, Meta(description="true or false")]
Host = Annotated[str, Meta(description='"localhost" or a loopback address such as "127.0.0.1" or "::1"')]
Port = Annotated[int, Meta(ge=0, le=65535, description="a whole number from 0 to 65535 (0 takes any free port)")]
Accounts = Annotated[
    Literal["own", "any"],
    Meta(description='"own" (the account that runs the server, and root) or "any" (every account of this machine)'),
]
Folder = Annotated[str, Meta(description='the absolute path of a folder such as "/srv/scripts", or "" for none')]
FolderOrAddress = Annotated[
    str, Meta(description='the absolute path of a folder, an address that begins with https://, or "" for none')
]

ServerAddress = Annotated[
    str, Meta(max_length=2000, description='the address of a server such as "http://127.0.0.1:11434", or "" for none')
]

ServerAddresses = Annotated[
    tuple[str, ...],
    Meta(
        max_length=64,
        description='an array of addresses of servers such as ["http://box.lan:8000"], or "loopback" for this machine',
    ),
]
Origins = Annotated[
    tuple[str, ...],
    Meta(max_length=64, description='an array of origins such as ["https://tools.example", "vscode-webview://*"]'),
]
File = Annotated[str, Meta(description='the absolute path of a file such as "/srv/template.py", or "" for none')]
TestsDir = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,3}\Z",
        description='the name of a folder inside a problem\'s own, such as "tests"',
    ),
]
# What else must hold is in `_wrong_programs`: msgspec 0.22 crashes on a union of a text and an array that have limits.
Programs = Annotated[
    str | tuple[str, ...],
    Meta(
        description='the name or path of a program, such as "python3", or an array of them: the first is used unless '
        "another is chosen on a page",
    ),
]

Editor = Annotated[
    bool | str, Meta(description='false, or the command that starts the editor, such as "code --new-window /srv/work"')
]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings that every system has, because all of them listen."""

    enabled: Switch = True
    host: Host = "localhost"
    port: Port = 0
    accounts: Accounts = "own"
    """The accounts of this machine that may connect."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The numeric addresses to listen on."""
        return BOTH_LOOPBACKS if self.host == "localhost" else (self.host,)


class ConsoleSettings(Section, frozen=True, kw_only=True):
    port: Port = 5160


class SidekickSettings(Section, frozen=True, kw_only=True):
    port: Port = 5163
    pyodide: FolderOrAddress = ""
    """The place of Pyodide, for scripts that run in the browser. Troupe does not include it."""
    scripts: Folder = ""
    """The scripts that the page at /script/ID runs."""
    origins: Origins = ()
    """Websites whose pages may draw and watch, besides our own pages and those of any server on loopback."""
    keep_boards: Annotated[float, Meta(ge=0, le=3650, description="a number of days from 0 (keep none) to 3650")] = 7.0
    """A board is kept for this long after its last change."""


class JudgeSettings(Section, frozen=True, kw_only=True):
    port: Port = 10043
    workspace: Folder = ""
    """The folder that holds the problems' folders. Empty: the folder where the server was started."""
    tests_dir: TestsDir = "tests"
    chelper: Switch = False
    """Whether to accept also the form that Competitive Companion sends to CHelper's port."""
    template: File = ""
    """The file whose text a new main.py gets."""
    interpreter: Annotated[Interpreter, Meta(description='"cpython" or "pypy"')] = "cpython"
    python_command: Programs = RunSettings().python_command
    pypy_command: Programs = RunSettings().pypy_command
    run_cwd_mode: Annotated[CwdMode, Meta(description='"workspace" or "task"')] = "workspace"
    timeout_ms: Annotated[
        int,
        Meta(ge=0, le=LONGEST_TIMEOUT, description="a whole number of milliseconds (0 for the problem's own limit)"),
    ] = 0
    memory_limit_mb: Annotated[
        int, Meta(ge=0, le=1_048_576, description="a whole number of MB (0 for the problem's own limit)")
    ] = 0
    jobs: Annotated[
        int, Meta(ge=0, le=256, description="a whole number of cases that run at once, at most 256 (0 for one a core)")
    ] = 0
    start_ahead: Switch = True
    """Whether the interpreter of a solution that runs again is started before it is needed, once for several runs."""
    compare: Annotated[CompareMode, Meta(description='"exact", "trim", "tokens" or "float"')] = "exact"
    case_sensitive: Switch = True
    tolerance: Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1, such as 1e-6")] = (
        Compare().tolerance
    )

    @property
    def commands(self) -> Commands:
        """The commands that can be run. Pages can only choose among them."""
        return Commands(python_command=_all_of(self.python_command), pypy_command=_all_of(self.pypy_command))

    @property
    def run(self) -> RunSettings:
        """The same settings in the form that pages use."""
        return RunSettings(
            interpreter=self.interpreter,
            python_command=self.commands.python_command[0],
            pypy_command=self.commands.pypy_command[0],
            run_cwd_mode=self.run_cwd_mode,
            timeout_ms=self.timeout_ms or None,
            memory_limit_mb=self.memory_limit_mb or None,
            jobs=self.jobs or None,
            compare=Compare(mode=self.compare, case_sensitive=self.case_sensitive, tolerance=self.tolerance),
        )


class IpcSettings(Section, frozen=True, kw_only=True):
    enabled: Switch = False
    """A base alone switches it on, too (`_Verdict.settings`)."""
    port: Port = 5164
    base: Folder = ""
    """The folder of the requests and responses. Empty: the contract's own."""
    server: Switch = True
    """Whether to answer requests..."""
    client: Switch = True
    """...and whether to send any."""
    dialect: Annotated[
        Literal["spec", "head"],
        Meta(description='"spec" (requests stay where they are) or "head" (whoever answers a request removes it)'),
    ] = "spec"
    editor: Editor = False
    """The command that starts the editor. False, or an empty text: none is started."""
    model: Annotated[
        Literal["none", "echo", "agent"],
        Meta(description='"none", "echo" (a prompt is its own answer) or "agent" (the configured one)'),
    ] = "none"
    """What answers submitPrompt."""
    concurrency: Annotated[int, Meta(ge=1, le=256, description="a whole number of commands at once, from 1 to 256")] = 8
    command_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="a number of seconds up to 86400, for one command to run")
    ] = 300.0
    attempt_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="a number of seconds up to 86400, for an attempt to be answered")
    ] = 600.0
    backoff: Annotated[
        Literal["jittered", "immediate"],
        Meta(description='"jittered" (each retry waits longer, by chance) or "immediate"'),
    ] = "jittered"
    cold_start_seconds: Annotated[
        float, Meta(ge=0, le=3600, description="a number of seconds from 0 to 3600, for the editor to become ready")
    ] = 20.0
    ready: Annotated[
        Literal["wait", "ping"],
        Meta(
            description='"wait" (for all of cold_start_seconds) or "ping" (until a ping is answered, if that is less)'
        ),
    ] = "wait"
    retention_days: Annotated[
        float,
        Meta(ge=0, le=3650, description="a number of days from 0 (keep all) to 3650, until requests are archived"),
    ] = 0.0
    rescan_seconds: Annotated[
        float, Meta(ge=0.1, le=3600, description="a number of seconds from 0.1 to 3600 between two looks at everything")
    ] = 5.0

    @property
    def folder(self) -> str:
        return self.base or DEFAULT_BASE

    @property
    def editor_command(self) -> str:
        """Empty: none is started."""
        return self.editor if isinstance(self.editor, str) else ""


class AgentSettings(Section, frozen=True, kw_only=True):
    port: Port = 3199
    tls: Switch = False
    """Whether to speak HTTPS, with certificates that are made on demand."""
    ollama: ServerAddress = "http://127.0.0.1:11434"
    """The servers of models. Empty: it is not asked."""
    openai: ServerAddress = ""
    vllm: ServerAddress = ""
    llamacpp: ServerAddress = ""
    model_addresses: ServerAddresses = ("loopback",)
    """Other servers of models, which a session or a choice of a model may name. None but these and the ones above are
    asked."""
    key_variable: Annotated[
        str, Meta(pattern=r"\A[A-Za-z_][A-Za-z0-9_]{0,99}\Z", description='a name such as "OPENAI_API_KEY"')
    ] = "OPENAI_API_KEY"
    """The environment variable that holds the key for the server in `openai`."""
    embedding_model: Annotated[
        str, Meta(pattern=r"\A[^\x00-\x1f\x7f]{0,300}\Z", description='the name of a model, or "" for none')
    ] = ""
    """The model that turns passages and questions into vectors, so that places are found by their meaning."""
    embedding_server: Annotated[
        Literal["ollama", "openai", "vllm", "llamacpp"],
        Meta(description='"ollama", "openai", "vllm" or "llamacpp"'),
    ] = "ollama"
    """Which of the configured servers has that model."""
    origins: Origins = ()
    """Websites whose pages may use the agent, besides our own page; they need the token, too."""

    @property
    def servers(self) -> dict[str, str]:
        """The address of each family's server, as far as they are configured."""
        named = {"ollama": self.ollama, "openai": self.openai, "vllm": self.vllm, "llamacpp": self.llamacpp}
        return {family: address for family, address in named.items() if address}


def _all_of(programs: str | tuple[str, ...]) -> tuple[str, ...]:
    return (programs,) if isinstance(programs, str) else tuple(dict.fromkeys(programs))


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    console: ConsoleSettings = ConsoleSettings()
    sidekick: SidekickSettings = SidekickSettings()
    judge: JudgeSettings = JudgeSettings()
    ipc: IpcSettings = IpcSettings()
    agent: AgentSettings = AgentSettings()

    def enabled(self) -> dict[str, Section]:
        """The sections that are switched on, by name."""
        sections: dict[str, Section] = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: section for name, section in sections.items() if section.enabled}


class BadSettings(Exception):
    """All mistakes: first those in the file, in its order, then those in the flags."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def parse(text: str, *, source: str, overrides: Sequence[str] = ()) -> Settings:
    """The settings of a TOML `text` that came from `source`, with `section.key=value` flags laid over it."""
    verdict = _Verdict()
    for given in (*_of_file(text, source, verdict), *_of_flags(overrides, verdict)):
        verdict.judge(given)
    return verdict.settings()


_SECTIONS: dict[str, type[Section]] = {field.name: field.type for field in fields(Settings)}


class _Given(NamedTuple):
    """One setting that was given, and its place."""

    place: str
    order: int
    path: tuple[str, ...]
    value: object


class _Verdict:
    """The settings that were accepted, and the errors of the others."""

    def __init__(self) -> None:
        self._accepted: dict[str, dict[str, object]] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._problems: list[tuple[int, str]] = []

    def wrong(self, place: str, order: int, sentence: str) -> None:
        self._problems.append((order, f"{place}: {sentence}"))

    def judge(self, given: _Given) -> None:
        sentence = _what_is_wrong(given)
        if sentence is not None:
            self.wrong(given.place, given.order, sentence)
        elif len(given.path) == 2:
            section, key = given.path
            self._accepted.setdefault(section, {})[key] = given.value
            self._places[f"{section}.{key}"] = (given.place, given.order)

    def settings(self) -> Settings:
        ipc = self._accepted.get("ipc", {})
        if ipc.get("base"):
            ipc.setdefault("enabled", True)  # who names a base wants it used
        settings = msgspec.convert(self._accepted, Settings)
        self._refuse_shared_ports(settings)
        self._refuse_lonely_model(settings.agent)
        if self._problems:
            raise BadSettings([sentence for _, sentence in sorted(self._problems, key=lambda problem: problem[0])])
        return settings

    def _refuse_lonely_model(self, agent: AgentSettings) -> None:
        server = agent.embedding_server
        if agent.embedding_model and server not in agent.servers:
            place, order = self._places["agent.embedding_model"]
            why = f"agent.embedding_model is asked of {server}, which has no address"
            self.wrong(place, order, f"{why}; expected one in agent.{server}, or another agent.embedding_server")

    def _refuse_shared_ports(self, settings: Settings) -> None:
        for (name, one), (other_name, other) in combinations(settings.enabled().items(), 2):
            if one.port == other.port != 0 and set(one.addresses) & set(other.addresses):
                paths = (f"{name}.port", f"{other_name}.port")
                given = [self._places[path] for path in paths if path in self._places]
                place, order = max(given, key=lambda at: at[1])  # the defaults differ, so at least one was given
                self.wrong(place, order, f"{' and '.join(paths)} are both {one.port}; expected two different ports")


def _what_is_wrong(given: _Given) -> str | None:
    section, *rest = given.path
    if section not in _SECTIONS:
        return _unknown_section(section, given.value)
    known = {field.name: field for field in fields(_SECTIONS[section])}
    if not rest:
        if isinstance(given.value, dict):
            return None
        return f"{section} is a section; expected [{section}] with keys under it, got {_shown(given.value)}"
    key = rest[0]
    path = f"{_bare(section)}.{_bare(key)}"
    if key not in known:
        near = _nearest(key, known)
        hint = f" Did you mean {section}.{near}?" if near else ""
        return f"{path} is not a setting.{hint} [{section}] knows {listed(known)}"
    try:
        msgspec.convert(given.value, known[key].type)
    except msgspec.ValidationError:
        return f"{path}: expected {_expected(known[key].type)}, got {_shown(given.value)}"
    check = _CHECKS.get(key)
    return check(path, given.value) if check else None


def _unknown_section(section: str, value: object) -> str:
    if not isinstance(value, dict):
        owners = [name for name, kind in _SECTIONS.items() if section in kind.__struct_fields__]
        if owners:
            return f"{section} is outside of any section; expected it under a heading such as [{owners[0]}]"
    near = _nearest(section, _SECTIONS)
    hint = f" Did you mean {near}?" if near else ""
    return f"{_bare(section)} is not a section.{hint} The sections are {listed(_SECTIONS)}"


def _wrong_host(path: str, host: object) -> str | None:
    if host == "localhost":
        return None
    try:
        address = ipaddress.ip_address(str(host))
    except ValueError:
        return f"{path}: expected {_expected(Host)}, got {_shown(host)}"
    if address.is_loopback:
        return None
    return (
        f"{path}: {_shown(host)} can be reached from other machines, which needs a token and TLS. These are not "
        f"supported yet; expected {_expected(Host)}"
    )


def _wrong_folder(path: str, folder: object) -> str | None:
    fine = folder == "" or (PurePath(str(folder)).is_absolute() and str(folder).isprintable())
    return None if fine else f"{path}: expected {_expected(Folder)}, got {_shown(folder)}"


def _wrong_file(path: str, file: object) -> str | None:
    return None if _wrong_folder(path, file) is None else f"{path}: expected {_expected(File)}, got {_shown(file)}"


_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~@+-]*)*")


def _wrong_folder_or_address(path: str, place: object) -> str | None:
    if _ADDRESS.fullmatch(str(place)) or _wrong_folder(path, place) is None:
        return None
    return f"{path}: expected {_expected(FolderOrAddress)}, got {_shown(place)}"


_ORIGIN = re.compile(r"(?i)[a-z][a-z0-9+.-]{0,40}://([a-z0-9._-]{1,253}|\[[0-9a-f:]{2,39}\])(:[0-9]{1,5})?")
_KIND_OF_ORIGIN = re.compile(r"(?i)(?!https?:)[a-z][a-z0-9+.-]{0,40}://\*")


def _wrong_origins(path: str, origins: object) -> str | None:
    assert isinstance(origins, list)
    for origin in origins:
        if not (_ORIGIN.fullmatch(origin) or _KIND_OF_ORIGIN.fullmatch(origin)):
            return (
                f"{path}: {_shown(origin)} is not an origin; expected a scheme, a host and perhaps a port, such as "
                '"https://tools.example" or "http://box.lan:8080", or a scheme of other programs with *, such as '
                '"vscode-webview://*"'
            )
    return None


_PROGRAM = re.compile(r"[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*")


def _wrong_programs(path: str, programs: object) -> str | None:
    named: list[str] = programs if isinstance(programs, list) else [str(programs)]
    wrong = [each for each in named if len(each) > LONGEST_COMMAND or not _PROGRAM.fullmatch(each)]
    if wrong or not 1 <= len(named) <= MOST_COMMANDS:
        return f"{path}: expected {_expected(Programs)}, got {_shown(wrong[0] if wrong else programs)}"
    return None


def _wrong_editor(path: str, editor: object) -> str | None:
    fine = editor is False or editor == "" or (editor is not True and _wrong_programs(path, editor) is None)
    return None if fine else f"{path}: expected {_expected(Editor)}, got {_shown(editor)}"


_SERVER = re.compile(r"(?i)https?://([a-z0-9._-]{1,253}|\[[0-9a-f:]{2,39}\])(:[0-9]{1,5})?(/[a-z0-9._~-]+)*/?")


def _wrong_server(path: str, address: object) -> str | None:
    if address == "":
        return None
    if not _SERVER.fullmatch(str(address)):
        return f"{path}: expected {_expected(ServerAddress)}, got {_shown(address)}"
    if is_never_asked(str(address)):
        return (
            f"{path}: {_shown(address)} is link-local, or where a cloud tells a machine its keys; expected the address "
            "of a server of models"
        )
    return None


def _wrong_servers(path: str, addresses: object) -> str | None:
    assert isinstance(addresses, list)
    for address in addresses:
        if address == "" or (address != LOOPBACK and _wrong_server(path, address) is not None):
            wrong = None if address == "" else _wrong_server(path, address)
            return wrong or f"{path}: expected {_expected(ServerAddresses)}, got {_shown(address)}"
    return None


_CHECKS: Mapping[str, Callable[[str, object], str | None]] = {
    "host": _wrong_host,
    "scripts": _wrong_folder,
    "workspace": _wrong_folder,
    "template": _wrong_file,
    "pyodide": _wrong_folder_or_address,
    "origins": _wrong_origins,
    "base": _wrong_folder,
    "editor": _wrong_editor,
    **dict.fromkeys(("ollama", "openai", "vllm", "llamacpp"), _wrong_server),
    "model_addresses": _wrong_servers,
    "python_command": _wrong_programs,
    "pypy_command": _wrong_programs,
}
"""The checks of a key's value that a type cannot express."""


def _of_file(text: str, source: str, verdict: _Verdict) -> Iterator[_Given]:
    if len(text) > LONGEST:
        size = f"{len(text):,} characters long; expected at most {LONGEST:,}"
        verdict.wrong(source, 0, f"the configuration is {size}. Is it the right file?")
        return
    text = text.replace("\r\n", "\n")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, column, what = where_toml_broke(str(error), text)
        verdict.wrong(f"{source}:{line}:{column}", line, f"not valid TOML: {what}")
        return
    except (RecursionError, ValueError):  # a thousand brackets; a number of 5,000 digits: tomllib lets both escape
        verdict.wrong(source, 0, "not valid TOML: it holds brackets too deep, or a number too long, to be read")
        return
    lines = lines_of(text)
    for section, content in document.items():
        paths: list[tuple[tuple[str, ...], object]] = [((section,), content)]
        if isinstance(content, dict) and section in _SECTIONS:
            paths += [((section, key), value) for key, value in content.items()]
        for path, value in paths:
            yield _Given(f"{source}:{lines[path]}", lines[path], path, value)


def _of_flags(overrides: Sequence[str], verdict: _Verdict) -> Iterator[_Given]:
    for order, flag in enumerate(overrides, LONGEST + 1):
        place = f"--set {_printable(flag)}"
        name, equals, value = flag.partition("=")
        path = tuple(part.strip() for part in name.split("."))
        if not equals or len(path) != 2 or not all(path):
            verdict.wrong(place, order, "expected section.key=value, such as console.port=5160")
        else:
            yield _Given(place, order, path, _flag_value(value))


def _flag_value(text: str) -> object:
    """The value as TOML reads it. Text that is not TOML counts as a string, so a shell needs no nested quotes."""
    try:
        match tomllib.loads(f"value = {text}"):
            case {"value": value, **rest} if not rest:
                return value
    except (ValueError, RecursionError):
        pass
    return text.strip()


def _expected(annotated: object) -> str:
    return " ".join(meta.description for meta in getattr(annotated, "__metadata__", ()) if meta.description)


def _nearest(word: str, known: Mapping[str, object]) -> str | None:
    return next(iter(difflib.get_close_matches(word.lower(), list(known), n=1)), None)


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", key) else _shown(key)


def _shown(value: object) -> str:
    """The value as it would stand in the file, shortened to a readable length."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            shown = json.dumps(value, ensure_ascii=False)
        case dict():
            return "a table"
        case list():
            return "an array"
        case _:
            shown = str(value)
    shown = _printable(shown)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
