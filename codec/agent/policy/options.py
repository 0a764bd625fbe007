"""Options with which a program runs others, takes its settings from elsewhere, or writes where nobody expects it.

A user who allows `git log` means git's own work. So the words behind an allowed entry are looked through, and a word
that is one of these options asks. The words of the entry are the user's, and are never questioned. An interpreter
(python, node) has no such options: whoever allows it allows all that it can do.

Most programs take the beginning of a long option for the whole. So a word that begins one of _LONG_NAMES asks as well,
unless it is the whole name of another option. A program that another one starts (`python -m pytest`, `uv run pytest`)
has its own options, too.
"""

import re

from codec.agent.policy.names import names

_OPTIONS = {
    "ack": r"--(?:page|ackrc).*",
    "ag": r"--page.*",
    "awk": r"-[filEv].*|--.*|.*(?:system|getline|\||>|@load|@include).*",
    "cargo": r"--(?:conf|manifest|target-d).*|-C.*|\+.*",
    "black": r"-[a-zA-Z]*c.*|--(?:code|conf).*",
    "ctest": r"-[A-Z]*[SD].*|--(?:script|build|dashboard|extra).*",
    "eslint": r"--(?:conf|rulesd|resolve-p|plug|pars|form|output|cache-|init).*|-[cfo].*",
    "fd": r"-[a-zA-Z]*[xX].*|--exec.*",
    "find": r"-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from)",
    "git": r"--(?:up|receive|exec|ext|conf|temp|open|textc|outp|tool|smtp|sendm|separate).*|[\w+.-]+::.*",
    "flake8": r"--(?:conf|append|enable|output|tee|isolated).*",
    "git setting": r"(?i)(?:core|alias|pager|include|includeif|credential|gpg|diff|merge|filter|remote|protocol|url"
    r"|sequence|uploadpack|init|safe|ssh|http|submodule|difftool|mergetool|browser|man|trailer|sendemail)\..*",
    "go": r"--?(?:exec|toolexec|vettool|overlay|modfile|C|ldflags|gcflags|o)(?:=.*)?",
    "gradle": r"-[Ibcpg].*|--(?:init|build-f|settings|project-d|include|gradle-u).*|-D.*",
    "jest": r"--(?:conf|global|setup|runner|testR|preset|reporter|rootD|transform|env|resolver).*|-c.*",
    "just": r"-[a-zA-Z]*[fdcE].*|--(?:justf|shell|command|set|working|dotenv|choose).*",
    "less": r"\+.*|-[a-zA-Z]*[oOk].*|--(?:log|lesskey).*",
    "make": r"-[a-zA-Z]*[fCIE].*|--(?:fi|mak|dir|ev|inc).*|[A-Za-z_][\w.]*[:+?!]*=.*",
    "man": r"-[PHC].*|--(?:page|html|conf).*",
    "mocha": r"-[a-zA-Z]*[rR].*|--(?:require|conf|package|file|reporter|ui|node-o|import|loader|experimental|opts).*",
    "mvn": r"-[fslg].*|--(?:file|settings|global|toolchains).*|-D(?:exec|maven\.ext)\..*",
    "mypy": r"--(?:config|python-exec|custom|junit|cache-d).*|--.*-report.*|@.*",
    "nox": r"-[a-zA-Z]*f.*|--(?:nox|envd).*",
    "npm": r"--?(?:config\.|pref|script-s|node-o|userc|globalc|shell|git|edit|view|cwd|dir|use-yarnrc).*|-C.*",
    "phpunit": r"-[cd].*|--(?:conf|boot|prep|include-p|loader|printer|ext|cache|log).*",
    "poetry": r"-[CP].*|--(?:dir|proj).*",
    "prettier": r"--(?:conf|plug|find-c).*",
    "pylint": r"--(?:init|load|rc|gen|output|output-f).*|@.*",
    "pytest": r"-[a-zA-Z]*[pco].*|@.*"
    r"|--(?:rootdir|confcutdir|override|config|basetemp|pyargs|pdbcls|debug|junit|log-file).*",
    "rg": r"--(?:pre|hostname-bin)(?:=.*)?|-[a-zA-Z]*z.*|--search-zip",
    "rsync": r"--(?:rsh|rsync-p|daemon|config).*|-[a-zA-Z0-9]*e.*",
    "rspec": r"-[rIOfo].*|--(?:require|options|form|out|drb|init).*",
    "ruff": r"--(?:config|output-f|cache-d).*|-o.*|@.*",
    "sort": r"--(?:comp|out|files0|temp).*|-[a-zA-Z]*[oT].*",
    "tar": r"--(?:checkpoint|to-c|use-c|info|new-v|rsh|rmt|absolute).*|-?[a-zA-Z]*[IFP].*",
    "tox": r"-[a-zA-Z]*[cx].*|--(?:conf|over|root|work|toxini|runner|devenv).*",
    "zip": r"-[a-zA-Z]*T.*|--(?:unzip-c|test).*",
    "vitest": r"--(?:conf|root|dir|global|setup|env|reporter|output|pool|browser).*|-[cr].*",
}
_LONG_NAMES = {
    "git": names(
        """
        upload-pack receive-pack exec ext-diff config template open-files-in-pager textconv output output-directory
        tool smtp-server sendmail-cmd separate-git-dir
        """
    ),
    "make": names("file makefile directory eval environment-overrides include-dir"),
    "mypy": names("config-file python-executable custom-typeshed-dir junit-xml cache-dir"),
    "npm": names("prefix script-shell node-options userconfig globalconfig shell git editor viewer"),
    "pylint": names("init-hook load-plugins rcfile generate-rcfile output"),
    "sort": names("compress-program output files0-from temporary-directory"),
    "tar": names(
        """
        to-command use-compress-program info-script new-volume-script rsh-command rmt-command checkpoint-action
        absolute-names
        """
    ),
}
_WHOLE_NAMES = names("--text --format --force")
"""Of other options that begin one of these."""
_COMPILED = {name: re.compile(pattern, re.DOTALL) for name, pattern in _OPTIONS.items()}
_SAME = {
    "gawk": "awk", "mawk": "awk", "gsed": "sed", "gfind": "find", "gtar": "tar", "bsdtar": "tar", "gmake": "make",
    "py.test": "pytest", "pnpm": "npm", "yarn": "npm", "fdfind": "fd", "gsort": "sort", "more": "less",
    "ack-grep": "ack", "gradlew": "gradle", "mvnw": "mvn",
}  # fmt: skip
_OF_TARGETS = names("make gradle mvn")
"""Whoever allows `make test` does not mean `make test publish`."""
_SED_OPTION = re.compile(
    r"-[nErsuz]+|--(?:quiet|silent|posix|regexp-extended|null-data|separate|unbuffered|debug|sandbox)"
)
_PLAIN_SED = re.compile(r"[0-9,$!]*[pdq=]?|s([/|,#])(?:(?!\1)[^\\\n])*\1(?:(?!\1)[^\\\n])*\1[gip0-9]*")
_GIT_GLOBAL = re.compile(r"-[cC].*|--(?:exec-p|config-e|git-d|work-t|names|super|attr).*")
_GIT_SHORT = {
    "archive": re.compile(r"-[a-zA-Z]*o"),
    "clone": re.compile(r"-[a-zA-Z]*[cu]"),
    "format-patch": re.compile(r"-[a-zA-Z]*o"),
    "grep": re.compile(r"-[a-zA-Z]*O"),
    "rebase": re.compile(r"-[a-zA-Z]*x"),
}
"""Short options that run or write other things, also joined with others before them."""
_GIT_RUNS = names(
    """
    config bisect submodule filter-branch difftool mergetool send-email daemon hook remote-ext instaweb
    """
)


def odd_option(words: tuple[str, ...], named: int) -> str | None:
    """The first word behind the first `named` ones with which the program does other than it seems to."""
    program = _name_of(words[0])
    if program == "git":
        return _git(words, named)
    if program == "sed":
        return _sed(words, named)
    if program in _OF_TARGETS and named > 1 and (target := _further_target(words, named)) is not None:
        return target
    started = [_name_of(each) for each in words[1:named]]
    for name in dict.fromkeys((program, *started)):
        pattern = _COMPILED.get(name)
        for word in words[named:]:
            if (pattern is not None and pattern.fullmatch(word)) or _begins_long(name, word):
                return word
    return None


def _further_target(words: tuple[str, ...], named: int) -> str | None:
    for place, word in enumerate(words[named:], named):
        if not word.startswith("-") and not word.isdecimal() and words[place - 1] != "--tests":
            return word
    return None


def _name_of(word: str) -> str:
    name = word.rpartition("/")[2]
    return _SAME.get(name, name)


def _begins_long(program: str, word: str) -> bool:
    begun = word.partition("=")[0]
    if len(begun) < 3 or not begun.startswith("--") or begun in _WHOLE_NAMES:
        return False
    return any(each.startswith(begun[2:]) for each in _LONG_NAMES.get(program, ()))


def _git(words: tuple[str, ...], named: int) -> str | None:
    command = next((place for place, word in enumerate(words) if place and not word.startswith("-")), len(words))
    short = _GIT_SHORT.get("".join(words[command : command + 1]))
    for place, word in enumerate(words[named:], named):
        if place < command:
            odd = _GIT_GLOBAL.fullmatch(word) is not None
        elif place == command:
            odd = word in _GIT_RUNS
        else:
            odd = short is not None and short.match(word) is not None
        if odd or _begins_long("git", word):
            return word
        if _COMPILED["git"].fullmatch(word) or _COMPILED["git setting"].fullmatch(word.rpartition(" ")[2]):
            return word
    return None


def _sed(words: tuple[str, ...], named: int) -> str | None:
    """The script is one command that only reads; options are those that change nothing else; all others are files."""
    has_script = False
    place = 1
    while place < len(words):
        word = words[place]
        place += 1
        if word == "-e" and place < len(words):
            script, has_script = words[place], True
            place += 1
        elif word.startswith("-") and len(word) > 1:
            if place > named and not _SED_OPTION.fullmatch(word):
                return word
            continue
        elif not has_script:
            script, has_script = word, True
        else:
            continue
        if place > named and not _PLAIN_SED.fullmatch(script):
            return script
    return None
