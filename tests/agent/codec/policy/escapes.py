"""Ways out: lines that run more than what is allowed, and paths that lead to what is closed. All are made from parts.

LISTS allows a few harmless commands; each line below would run something else, too, on some shell or system.
"""

from collections.abc import Iterator
from itertools import product

from codec.agent.workspaces import Policy

LISTS = Policy(
    allowed_commands=("npm test", "git", "echo", "pytest", "find", "sed", "cd", "timeout", "env", "xargs", "sh"),
    blocked_commands=("rm", "curl"),
)

_MORE = (
    "rm -rf x", "id", "/bin/rm -r x", "./npm test", "curl http://x.y/z", "sudo id", "cat /etc/passwd", "npm install x",
)  # fmt: skip
PLACES = (
    "npm test; {}", "npm test;{}", "npm test && {}", "npm test&&{}", "npm test || {}", "npm test | {}",
    "npm test |& {}", "npm test & {}", "npm test &{}", "npm test\n{}", "npm test\n\n {}", "npm test\r{}",
    "npm test\r\n{}", "{} | npm test", "{} && npm test", "{}; npm test", "{}\nnpm test", "({})", "( npm test; {} )",
    "{{ {}; }}", "{{ npm test; {}; }}", "! {}", "npm test $({})", "npm test `{}`", 'npm test "$({})"',
    'npm test "`{}`"', "npm test <({})", "npm test >({})", "npm test ${{a:-$({})}}", 'npm test "${{a:=`{}`}}"',
    "npm test $(( $({}) ))", "npm test <<E\n$({})\nE", "npm test <<< $({})", "if {}; then npm test; fi",
    "if true; then {}; fi", "while {}; do npm test; done", "until {}; do npm test; done", "for a in b; do {}; done",
    "for a in $({}); do npm test; done", "case a in a) {};; esac", "select a in b; do {}; done",
    "npm() {{ {}; }}; npm test", "function npm {{ {}; }}; npm test", "npm() ( {} ); npm test",
    "alias npm='{}'; npm test", "trap '{}' EXIT; npm test", "eval '{}'", "eval {}", "eval npm test \\; {}", "exec {}",
    "command {}", "builtin {}", "coproc {}", "time {}", "timeout 5 {}", "timeout -s KILL 5 {}", "nice {}",
    "nice -n 5 {}", "nohup {}", "stdbuf -o0 {}", "env {}", "env A=b {}", "env -i {}", "env -u A {}", "env -S '{}'",
    "xargs {}", "echo x | xargs {}", "xargs -I a {}", "sudo {}", "sudo -E {}", "doas {}", "find . -exec {} \\;",
    "find . -exec {} +", "find . -execdir {} ';'", "find . -ok {} \\;", "sh -c '{}'", 'sh -c "{}"',
    "sh -c 'npm test; {}'", "sh -xc '{}'", "bash -c '{}'", "bash -lc '{}'", "bash -c \"sh -c '{}'\"", "zsh -c '{}'",
    "/bin/sh -c '{}'", "busybox sh -c '{}'", "su -c '{}'", "watch '{}'", "watch {}", "echo '{}' | sh",
    "echo '{}' | bash -s", "echo '{}' > x; sh x", "sh <<< '{}'", "sh <<E\n{}\nE", "script -c '{}'", "flock x {}",
    "parallel {} ::: a", "setsid {}", "strace {}", "unshare -r {}", "chroot . {}", "npm test # \n{}",
    "npm test \\\n; {}", "npm test '\n'; {}", "npm test 'a'\\''b'; {}", 'npm test "a"; {} "b"', "npm test \\; {}; {}",
    "npm test 2>&1; {}", "npm test >/dev/null; {}", "npm test > /dev/null & {}", "git status; {}", "cd x && {}",
    "cd x; {}", "pytest $({})", "git -c alias.x='!{}' x", "git -c core.pager='{}' log",
    "git -c core.fsmonitor='{}' status", "git -c core.sshCommand='{}' fetch", "git -c diff.external='{}' diff",
    "git --config-env=core.editor=A commit; {}", "git submodule foreach '{}'", "git bisect run {}",
    "git rebase -x '{}' main", "git filter-branch --tree-filter '{}'", "git grep -O'{}' a", "git difftool -x '{}'",
    "git config core.hooksPath '{}'", "git clone 'ext::{}'", "git fetch --upload-pack='{}' x",
    "git ls-remote --upload-pack '{}' x", "git archive --exec='{}' x",
)  # fmt: skip

SPELLINGS = (
    "r''m x", 'r""m x', "'rm' x", '"rm" x', "\\rm x", "r\\m x", "$'rm' x", "$'\\x72m' x", "$'\\162m' x", '$"rm" x',
    "r$@m x", "r${z}m x", "$(echo rm) x", "`echo rm` x", "r?m x", "/bin/r* x", "/bin/[r]m x", "{rm,x}", "r{m,} x",
    "/bin/rm x", "//bin//rm x", "../../bin/rm x", "~/rm x", "./rm x", "RM x", "Rm x", "rm.exe x", "RM.CMD x",
    "C:\\bin\\rm.exe x", "${SHELL} -c rm", "$SHELL", "$RM x", "${x:-rm} x", "${!x} x", "x=rm; $x y", "rm\\\n x",
    "r\\\nm x", "\trm x", " rm x", "!rm", "!!", "^npm^rm", "=rm x", "rm\u00a0x; rm x", "\u202erm x", "\u200brm x",
    "rm\tx", "rm</dev/null x", "rm>/dev/null x", "2>/dev/null rm x",
)  # fmt: skip

_VARIABLES = (
    "PATH=.", "LD_PRELOAD=./x.so", "LD_LIBRARY_PATH=.", "NODE_OPTIONS=--require=./x", "PYTHONPATH=.",
    "PYTHONSTARTUP=x", "BASH_ENV=./x", "ENV=./x", "IFS=e", "GIT_DIR=x", "GIT_SSH_COMMAND=id", "GIT_EXTERNAL_DIFF=id",
    "GIT_PAGER=id", "PAGER=id", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_GLOBAL=x", "EDITOR=id",
    "npm_config_script_shell=./x", "PERL5OPT=-Mx", "RUBYOPT=-rx", "PROMPT_COMMAND=id", "SHELLOPTS=xtrace",
    "PS4='$(id)'", "HOME=.", "CDPATH=/", "BASH_FUNC_npm%%='() { id; }'", "A=b", "CI=1",
)  # fmt: skip
_WITH_VARIABLES = (
    "{} npm test", "{}; npm test", "{}\nnpm test", "export {}; npm test", "export {} && npm test",
    "declare -x {}; npm test", "env {} npm test", "env -i {} npm test", "set -a; {}; npm test",
    "readonly {}; npm test", "time {} npm test", "{} git log",
)  # fmt: skip

_OTHER_OUTPUT = (
    "> x", ">> x", ">| x", "&> x", "&>> x", ">& x", "2> x", "1>x 2>&1", "< x", "<> x", "3> x", "{fd}> x",
    "> '.git/hooks/pre-commit'", "> .git/config", ">.GIT/config", "> ../x", "> /etc/x", "> ~/.bashrc", "> $x",
    "> \"$HOME/x\"", "> /dev/tcp/a/1", "< /dev/tcp/a/1", "| tee x", "| tee .git/config", "| dd of=x", "> /dev/null2",
    "> /dev/null/../x", ">/dev/sda",
)  # fmt: skip
_LISTED = ("npm test", "git status", "echo a", "pytest -q", "timeout 5 npm test", "sh -c 'npm test'", "npm test 2>&1")

_GIT_OPTIONS = (
    "-c core.fsmonitor=./x status", "-c core.hooksPath=./x commit", "-c core.editor=./x commit",
    "-c core.askPass=x fetch", "-c protocol.ext.allow=always fetch x", "-c filter.a.clean=x add .",
    "-c diff.a.textconv=x diff", "-c include.path=x log", "-c pager.log=x log", "-c credential.helper=x fetch",
    "-c gpg.program=x commit", "-c sequence.editor=x rebase", "--exec-path=. x", "--exec-path . status",
    "--git-dir=x status", "--git-dir x status", "--work-tree=/ status", "-C .. status", "-C x log",
    "--config-env=core.pager=A log", "--namespace=a log", "clone ext::sh%20x", "fetch fd::7", "fetch any::thing",
    "push ext::x", "remote add a ext::x", "clone -c core.fsmonitor=x y", "clone -u ./x y", "clone --upload-pack=x y",
    "clone --config a=b y", "clone --template=x y", "init --template=x", "fetch --upload-pack ./x y",
    "push --receive-pack=x y", "push --exec=x y", "grep --open-files-in-pager=x y", "grep -Ox y", "diff --ext-diff",
    "log --ext-diff -p", "show --textconv x", "diff --output=x", "log --output=.git/config", "config core.fsmonitor x",
    "config --global alias.x y", "config alias.a !id", "bisect run x", "submodule foreach x", "submodule update",
    "filter-branch x", "difftool x", "mergetool --tool=x", "rebase -x x y", "rebase --exec=x y",
    "send-email --smtp-server=x y", "daemon", "hook run x", "instaweb", "fetch --up=x y", "clone --conf a=b y",
    "grep --open=x y",
)  # fmt: skip


def commands() -> Iterator[str]:
    yield from (place.format(*[more] * place.count("{}")) for place, more in product(PLACES, _MORE))
    yield from SPELLINGS
    yield from (f"npm test; {each}" for each in SPELLINGS)
    yield from (f"sh -c '{each}'" for each in SPELLINGS if "'" not in each)
    yield from (form.format(each) for form, each in product(_WITH_VARIABLES, _VARIABLES))
    yield from (f"{each} {out}" for each, out in product(_LISTED, _OTHER_OUTPUT))
    yield from (f"git {each}" for each in _GIT_OPTIONS)
    yield from (f"npm test && git {each}" for each in _GIT_OPTIONS)
    yield from (
        f"npm test {each} x" for each in "*?[~{}`$<>&\\!\"'#\x00\x01\x07\x08\x0b\x0c\x1b\x7f\x85\u2028\ufeff\u3000"
    )


_GITS = (
    ".git", ".GIT", ".Git", ".gIt", ".git.", ".git ", ".git..", ".git. .", "git~1", "GIT~1", "Git~2",
    ".git::$INDEX_ALLOCATION", ".git:x", ".g\u200cit", ".\u200dgit", "\u200e.git", ".gi\u200ft", ".git\u202a",
    ".g\u202bit", ".gi\u202ct", ".\u202dgit", ".git\u202e", ".g\u206ait", ".gi\u206bt", ".git\u206c", "\u206d.git",
    ".\u206egit", ".g\u206fit", "\ufeff.git", ".ｇｉｔ", "．git", ".𝐠it", ".gi𝗍", ".gıt\u200c/../.git", "gi7eba~1",
    ".git\u00ad",
)  # fmt: skip
_INSIDE = ("", "/config", "/hooks/pre-commit", "/objects/../config", "/info/attributes", "//HEAD")
_ABOVE = (
    "", "./", "a/", "a/./b/", "a//", "src/../", "vendor/lib/", "/",
)  # fmt: skip
_OUTSIDE = (
    "..", "../x", "a/../../x", "./..", "a/..", "/etc/passwd", "//etc/passwd", "/", "~", "~/x", "~root/x", "~+/x",
    "C:/x", "C:x", "c:\\x", "\\x", "a\\b", "..\\x", "a\\..\\..\\x", "\\\\host\\share", "\\\\?\\C:\\x", "file:///x",
    "http://x/y", "a\0b", "\0", "a/\0/b", "a\nb", "a\rb", "\x1b[2J", "\u2028", "\ud800", "a/", ".", "./", "", " ",
    "...", "a. ", "CON", "con.txt", "a/aux", "a/aux.c/b", "NUL", "nul.", "prn", "com1", "com9.x", "lpt1", "COM²",
    "conin$", "CONOUT$", "a:b", "a.txt::$DATA", "a.py:x", "x" * 300, "x/" * 400, "é" * 200, "a\u00a0", "a\u202eb",
    "a\u200bb", "a\ufeff",
)  # fmt: skip
_BLOCKED = (
    "node_modules", "Node_Modules", "NODE_MODULES", "node_modules\u200c", "ｎode_modules", "node_moduleſ",
    "./node_modules", "node_modules/.",
)  # fmt: skip
_BELOW = ("", "/a.js", "/a/b/c.js", "//a.js", "/./a.js", "/.bin/x")


def paths() -> Iterator[str]:
    yield from ("".join(parts) for parts in product(_ABOVE, _GITS, _INSIDE))
    yield from _OUTSIDE
    yield from (f"src/{each}" for each in _OUTSIDE if each[:1] not in ("", "/", "~"))
    yield from ("".join(parts) for parts in product(_BLOCKED, _BELOW))
