"""The table of cases for changes of files. It is also what they mean."""

import pytest

from codec.agent.approvals import Remembered
from codec.agent.files import FileRefused
from codec.agent.policy import ChangeWish, Mode, change_verdict, explanation, normal_path
from codec.agent.workspaces import Policy

PLAIN = Policy()
SOURCES = Policy(allowed_write_globs=("src/**", "*.md"), blocked_globs=("src/secrets/**", "*.Pem", "Straße/**"))
SIMPLE = Policy(auto_approve_simple_changes=True)
TOOLS = Policy(auto_approve_tools=("write_file",))
BY_PATH = Remembered(id="r", kind="path", path="src/a.py")
BY_TOOL = Remembered(id="r", kind="tool", tool_name="delete_file", scope="workspace")
BY_COMMAND = Remembered(id="r", kind="command", argv=("src/a.py",))


def wish(path: str = "src/a.py", **more: object) -> ChangeWish:
    return ChangeWish(path=path, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("policy", "mode", "remembered", "change", "decision", "rule"),
    [
        (PLAIN, "ask", (), wish(), "ask", "mode ask"),
        (PLAIN, "auto", (), wish(), "allow", "mode auto"),
        (PLAIN, "auto", (), wish(action="delete"), "allow", "mode auto"),
        (PLAIN, "plan", (), wish(), "deny", "mode plan"),
        (TOOLS, "plan", (BY_PATH,), wish(tool_name="write_file"), "deny", "mode plan"),
        (PLAIN, "auto", (), wish(".git/config"), "deny", "path"),
        (PLAIN, "auto", (), wish("a/b/.git/hooks/x", action="delete"), "deny", "path"),
        (PLAIN, "auto", (), wish("../x"), "deny", "path"),
        (PLAIN, "auto", (), wish("node_modules/a.js"), "deny", "blocked_globs node_modules/**"),
        (PLAIN, "auto", (), wish("Node_Modules/a.js"), "deny", "blocked_globs node_modules/**"),
        (PLAIN, "auto", (), wish("./node_modules//a.js"), "deny", "blocked_globs node_modules/**"),
        (PLAIN, "auto", (), wish("ｎode_modules/a.js"), "deny", "blocked_globs node_modules/**"),
        (PLAIN, "auto", (), wish("node_modules"), "deny", "blocked_globs node_modules/**"),
        (SOURCES, "auto", (), wish("src/secrets/a"), "deny", "blocked_globs src/secrets/**"),
        (SOURCES, "auto", (), wish("SRC/Secrets/a"), "deny", "blocked_globs src/secrets/**"),
        (SOURCES, "auto", (), wish("src/a.pem"), "deny", "blocked_globs *.Pem"),
        (SOURCES, "auto", (), wish("STRASSE/a.md"), "deny", "blocked_globs Straße/**"),
        (Policy(blocked_globs=("se\u200bcret/**",)), "auto", (), wish("secret/a"), "deny",
         "blocked_globs se\u200bcret/**"),
        (SOURCES, "auto", (), wish("lib/a.py"), "deny", "allowed_write_globs"),
        (SOURCES, "auto", (), wish("SRC/a.py"), "deny", "allowed_write_globs"),
        (SOURCES, "auto", (), wish("docs/a.md"), "allow", "mode auto"),
        (SOURCES, "ask", (BY_TOOL,), wish("lib/a", tool_name="delete_file"), "deny", "allowed_write_globs"),
        (Policy(allowed_write_globs=()), "auto", (), wish(), "deny", "allowed_write_globs"),
        (SIMPLE, "ask", (), wish(changed_lines=9), "allow", "auto_approve_simple_changes"),
        (SIMPLE, "ask", (), wish(changed_lines=0), "allow", "auto_approve_simple_changes"),
        (SIMPLE, "ask", (), wish(changed_lines=10), "ask", "mode ask"),
        (SIMPLE, "ask", (), wish(changed_lines=-1), "ask", "mode ask"),
        (SIMPLE, "ask", (), wish(changed_lines=1, action="create"), "ask", "mode ask"),
        (SIMPLE, "ask", (), wish(changed_lines=1, action="delete"), "ask", "mode ask"),
        (SIMPLE, "ask", (), wish("node_modules/a", changed_lines=1), "deny", "blocked_globs node_modules/**"),
        (TOOLS, "ask", (), wish(tool_name="write_file"), "allow", "auto_approve_tools write_file"),
        (TOOLS, "ask", (), wish(tool_name="delete_file"), "ask", "mode ask"),
        (PLAIN, "ask", (BY_PATH,), wish("./src//a.py"), "allow", "remembered src/a.py"),
        (PLAIN, "ask", (BY_PATH,), wish(action="create"), "allow", "remembered src/a.py"),
        (PLAIN, "ask", (BY_PATH,), wish(action="delete"), "ask", "mode ask"),
        (PLAIN, "ask", (BY_PATH,), wish("src/A.py"), "ask", "mode ask"),
        (PLAIN, "ask", (BY_PATH,), wish("src/a.py/b"), "ask", "mode ask"),
        (PLAIN, "ask", (BY_TOOL,), wish(tool_name="delete_file", action="delete"), "allow", "remembered delete_file"),
        (PLAIN, "ask", (BY_TOOL,), wish(), "ask", "mode ask"),
        (PLAIN, "ask", (BY_COMMAND,), wish(), "ask", "mode ask"),
    ],
)  # fmt: skip
def test_each_rule_decides_in_its_turn(
    policy: Policy, mode: Mode, remembered: tuple[Remembered, ...], change: ChangeWish, decision: str, rule: str
) -> None:
    verdict = change_verdict(policy, mode, remembered, change)
    assert (verdict.decision, verdict.rule) == (decision, rule)
    assert verdict.reason.endswith(".")
    assert explanation(verdict.rule)
    approved = next((f"You have approved this before for this {one.scope}." for one in remembered), None)
    assert (verdict.reason == approved) == rule.startswith("remembered")


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("a.py", "a.py"),
        ("./a//b/./c.py", "a/b/c.py"),
        (".gitignore", ".gitignore"),
        (".github/workflows/a.yml", ".github/workflows/a.yml"),
        ("a b/ü.txt", "a b/ü.txt"),
        ("ü b.txt", "ü b.txt"),
        ("src/[id]/(group)/page.tsx", "src/[id]/(group)/page.tsx"),
        ("console.py", "console.py"),
        ("aux_files/com10", "aux_files/com10"),
        ("a~1.py", "a~1.py"),
        (" a", " a"),
        ("...a", "...a"),
    ],
)
def test_a_path_has_one_normal_form(path: str, normal: str) -> None:
    assert normal_path(path) == normal
    assert normal_path(normal) == normal


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/", "a/", "a/.", "..", "a/..", "a/../b", "../a", "/etc/passwd", "//a/b", "~", "~/a", "~root/a",
        "C:/a", "c:a", "a\\b", "\\\\a\\b", "..\\a", "\\\\?\\C:\\a", "file:///a", "a\0b", "a\nb", "a\x7f",
        ".git", ".git/config", "a/.git", ".GIT/x", ".Git", "git~1/x", "GIT~2", ".git./x", ".git /x",
        ".git::$INDEX_ALLOCATION/x",
        ".g\u200cit/x", ".\u200dgit", "\ufeff.git/x", ".gi\u200et/config", ".ｇit/x", "．git/x", ".gıt\u200b/.git",
        "con", "CON.txt", "a/nul", "aux.c", "com1", "LPT9.log", "COM¹", "conin$", "prn .txt",
        "a.", "a /b", "a./b", "a...", "a:b", "a.txt::$DATA", "a\u00a0b", "a\u3000", "a\u202eyp.exe", "a\u200b.py",
        "a\u2028b", "a\u2029b", "a\x85b", "é\x9f",
        "\ud800",
        "a" * 256, "a/" * 300 + "b", "a/" * 3000,
    ],
)  # fmt: skip
def test_a_path_that_is_another_somewhere_is_refused(path: str) -> None:
    with pytest.raises(FileRefused) as refused:
        normal_path(path)
    said = str(refused.value)
    assert said.endswith(".")
    assert said.isprintable()
    assert ("Only what is in the workspace can be changed" in said) == (".." in path.split("/"))
