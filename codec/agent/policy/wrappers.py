"""Programs that run what their arguments say.

Each is one of these:
  - a wrapper that is understood (`timeout 60 npm test`): it is as good as what it runs;
  - one that is not (`sudo`, `xargs`, `env A=b`): what it runs is looked into, to find what is blocked, but it runs it
    in another way than the line shows, or with words that the line does not show;
  - a shell with a line (`sh -c "npm test"`): the line is judged;
  - one that is closed (`ssh`, `watch`): nobody can tell from here what it runs.
An entry of a list that reaches to what is run (`sudo apt`, `bash test.sh`) speaks of the whole; one that holds the
wrapper only (`sudo`, `bash`) says nothing of what it runs.
"""

import re

from msgspec import Struct

from codec.agent.policy.names import names
from codec.agent.policy.shell import Words


class Wrapped(Struct, frozen=True):
    """What a program runs, as far as it can be told."""

    reach: int
    """Where in the words it begins. An entry that is longer speaks of it, too."""
    commands: tuple[Words, ...] = ()
    line: str | None = None
    """A word that is a line for a shell, or may be one."""
    understood: bool = False
    """Whether it is as good as what it runs."""


class _Form(Struct, frozen=True):
    understood: bool = True
    valued: frozenset[str] = frozenset()
    """Options that take the word behind them."""
    flags: re.Pattern[str] = re.compile(r"(?!)")
    """Other options that are understood."""
    places: int = 0
    """Words before the program."""


def _form(valued: str = "", flags: str = "(?!)", places: int = 0, *, understood: bool = True) -> _Form:
    return _Form(understood, frozenset(valued.split()), re.compile(flags), places)


_WRAPPERS = {
    "timeout": _form(
        "-k -s --kill-after --signal",
        r"-[fpv]+|--foreground|--preserve-status|--verbose|(?:-[ks]|--kill-after=|--signal=)[A-Za-z0-9.]+",
        places=1,
    ),
    "nice": _form("-n --adjustment", r"-n?-?\d+|--adjustment=-?\d+"),
    "nohup": _form(),
    "time": _form(flags="-p"),
    "stdbuf": _form("-i -o -e --input --output --error", r"-[ioe][L0-9][0-9KMG]*|--(?:input|output|error)=[L0-9KMG]+"),
    "command": _form(),
    "env": _form(),
    "sudo": _form("-u -g -h -p -C -T -U -D -R -r -t --user --group", ".*", understood=False),
    "doas": _form("-u -C -a", ".*", understood=False),
    "xargs": _form(
        "-I -n -P -L -d -s -E -a --max-args --max-procs --max-lines --delimiter --arg-file", ".*", understood=False
    ),
    "builtin": _form(understood=False),
    "exec": _form("-a", "-[cl]+", understood=False),
    "coproc": _form(understood=False),
    "ionice": _form("-c -n -p --class --classdata", ".*", understood=False),
    "chrt": _form(flags=".*", places=1, understood=False),
    "taskset": _form(flags=".*", places=1, understood=False),
    "setsid": _form(flags=".*", understood=False),
    "setarch": _form(flags=".*", places=1, understood=False),
    "chroot": _form(flags=".*", places=1, understood=False),
    "unshare": _form(flags=".*", understood=False),
    "nsenter": _form("-t --target", ".*", understood=False),
    "strace": _form("-e -o -p -s -u", ".*", understood=False),
    "ltrace": _form("-e -o -p -s -u", ".*", understood=False),
    "busybox": _form(understood=False),
    "toybox": _form(understood=False),
    "caffeinate": _form("-t -w", ".*", understood=False),
    "flock": _form("-w -E --timeout", ".*", places=1, understood=False),
    "pkexec": _form("--user", ".*", understood=False),
    "systemd-run": _form("-p -u --unit --property", ".*", understood=False),
    "catchsegv": _form(understood=False),
    "rlwrap": _form(flags=".*", understood=False),
    "unbuffer": _form(flags="-p", understood=False),
    "parallel": _form("-j -N -n --jobs", ".*", understood=False),
    "watch": _form("-n --interval", ".*", understood=False),
    "runuser": _form("-u -g", ".*", understood=False),
}
_SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh powershell cmd")
_CLOSED = names(
    """
    eval source . su ssh script tmux screen at batch crontab trap expect gdb lldb start open osascript xterm
    dbus-run-session xvfb-run wsl fc history
    """
)
_ALTERING = names(
    """
    alias unalias export declare typeset local readonly unset set shopt enable hash read mapfile readarray getopts
    bind complete compgen compopt let abbr setopt unsetopt autoload zmodload emulate pushd popd
    """
)
"""Words of the shell itself. They change what the commands after them mean, or run what is in their arguments."""
_ENV_VALUED = frozenset(("-u", "-C", "-S", "--unset", "--chdir", "--split-string"))
"""They take a word, and nothing with them is understood."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)


def program_of(word: str | None) -> str:
    """The program's name, whatever folder it is in and however a file system may take it."""
    if word is None:
        return ""
    name = word.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()
    name = name.rstrip(". ") or name
    return name.rpartition(".")[0] if name.endswith((".exe", ".cmd", ".bat", ".com")) else name


def is_own(words: Words) -> bool:
    """Whether its program is one of the workspace's: ./start is not the system's start."""
    return words[0] is not None and "/" in words[0] and not words[0].startswith("/")


def is_altering(words: Words) -> bool:
    if is_own(words):
        return False
    name = program_of(words[0])
    return name in _ALTERING or (
        name in ("printf", "test") and any(each is None or each[:2] == "-v" for each in words[1:])
    )


def unwrapped(words: Words) -> Wrapped | None:
    """None: it runs nothing but itself."""
    name = program_of(words[0])
    if name in _SHELLS:
        return _shell(words)
    if name == "find" or name in ("fd", "fdfind"):
        return _finding(words, name)
    if name in _CLOSED:
        return Wrapped(1, line=" ".join(each or "" for each in words[1:]) if name == "eval" else _last_line(words))
    if (form := _WRAPPERS.get(name)) is None:
        return None
    understood = form.understood and words[0] == name
    valued = _ENV_VALUED if name == "env" else form.valued
    place, places = 1, form.places
    while place < len(words) and (word := words[place]) is not None:
        if word == "--":
            place += 1
            break
        if word in valued:
            value = next(iter(words[place + 1 :]), None)
            understood = understood and word in form.valued and re.fullmatch(r"-?[\w.]+", value or "") is not None
            place += 2
        elif word.startswith("-") and len(word) > 1:
            understood = understood and form.flags.fullmatch(word) is not None
            place += 1
        elif _ASSIGNMENT.match(word):
            understood = False
            place += 1
        elif places:
            understood = understood and re.fullmatch(r"[0-9.]+[smhd]?", word) is not None
            places -= 1
            place += 1
        else:
            break
    if len(words) == 1:
        return None
    inner = words[place:] if not places else ()
    return Wrapped(min(place, len(words) - 1), (inner,) if inner else (), _last_line(words), understood and bool(inner))


def _shell(words: Words) -> Wrapped:
    understood = words[0] in ("sh", "bash", "dash")
    for place, word in enumerate(words[1:], 1):
        if word is None:
            break
        if re.fullmatch(r"[-/][A-Za-z]*[cC]|-[Cc]ommand", word) and place + 1 < len(words):
            understood = understood and re.fullmatch(r"-[eux]*c", word) is not None
            at = place + 1
            while at < len(words) - 1 and (words[at] or "")[:1] in ("-", "+"):  # its options go on: sh -c -e -- LINE
                at += 2 if words[at] in ("-o", "+o", "-O", "+O") and at < len(words) - 2 else 1
            return Wrapped(at, line=words[at], understood=understood and at == place + 1)
        if not re.fullmatch(r"-[eux]+", word):
            understood = False
        if not word.startswith(("-", "/", "+")):
            break
    return Wrapped(1)


def _finding(words: Words, name: str) -> Wrapped | None:
    starts = ("-exec", "-execdir", "-ok", "-okdir") if name == "find" else ("-x", "-X", "--exec", "--exec-batch")
    found: list[Words] = []
    place = reach = 0
    while place < len(words):
        if words[place] in starts:
            end = place + 1
            while end < len(words) and words[end] not in (";", "+"):
                end += 1
            reach = reach or place + 1
            if end > place + 1:
                found.append(tuple(None if each == "{}" else each for each in words[place + 1 : end]))
            place = end
        place += 1
    return Wrapped(reach, tuple(found), understood=False) if reach else None


def _last_line(words: Words) -> str | None:
    """A word that may be a whole line: it has blanks in it."""
    return next((each for each in reversed(words[1:]) if each is not None and " " in each.strip()), None)
