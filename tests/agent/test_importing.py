"""What /refactor shows of the files that the file in the editor imports."""

import pytest

from actors.agent.budget import tokens
from actors.agent.importing import BEGINNING, MOST_IMPORTED, MOST_LINES, MOST_USED, imported, used_lines
from actors.kernel.testing import run_in_virtual_time
from codec.agent.context import ActiveEditor, EditorContext
from codec.agent.models import SaidText
from tests.agent.turn_kit import REMOTE, STOP, Script, whole

PATHS = (
    "shop/app.py", "shop/config.py", "shop/db/__init__.py", "other/config.py", "web/page.ts", "web/lib/cart.ts",
    "cmd/main.go", "stock/stock.go", "stock/stock_more.go", "src/main.c", "src/pool.h", "src/main.rs", "src/pool.rs",
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("shop/app.py", "import json\nfrom shop.config import read, write\n", ("shop/config.py",)),
        ("shop/app.py", "from . import config\nfrom .db import Table\n", ("shop/config.py", "shop/db/__init__.py")),
        ("shop/app.py", "import json, requests\n", ()),
        ("web/page.ts", "import { total } from './lib/cart'\nimport react from 'react'\n", ("web/lib/cart.ts",)),
        ("cmd/main.go", 'import (\n\t"fmt"\n\t"example.org/x/stock"\n)\n', ("stock/stock.go", "stock/stock_more.go")),
        ("src/main.c", '#include <stdio.h>\n#include "pool.h"\n', ("src/pool.h",)),
        ("src/main.rs", "mod pool;\nuse std::io;\n", ("src/pool.rs",)),
        ("notes.txt", "import shop.config\n", ()),
    ],
)
def test_what_is_imported_is_a_file_of_the_workspace_or_left_out(path: str, text: str, found: tuple[str, ...]) -> None:
    assert imported(path, text, PATHS) == found


CONFIG = """\
LIMIT = 5


def read(path):
    def inner():
        return LIMIT
    return inner()


def unused():
    pass


class Table:
    def read(self):
        pass

    def unused(self):
        pass


"""


@pytest.mark.parametrize(
    ("used", "lines"),
    [
        ({"read"}, [(4, 7)]),
        ({"read", "Table", "LIMIT"}, [(1, 1), (4, 7), (14, 19)]),
        ({"inner"}, []),
        (set(), []),
    ],
)
def test_of_an_imported_file_those_definitions_are_shown_that_are_used(
    used: set[str], lines: list[tuple[int, int]]
) -> None:
    assert used_lines("config.py", CONFIG, frozenset(used)) == lines


def test_of_many_and_long_definitions_some_and_their_beginnings_are_shown() -> None:
    names = [f"f{number}" for number in range(10)]
    text = "".join(f"def {name}():\n" + "    pass\n" * 100 for name in names)
    shown = used_lines("a.py", text, frozenset(names))
    assert shown == [(1 + 101 * number, MOST_LINES + 101 * number) for number in range(MOST_USED)]


def prompt(files: dict[str, str], command: str = "/refactor") -> str:
    """All that the model is told at first, in a turn about the file app.py."""
    script = Script([SaidText("Done."), STOP])
    context = EditorContext(active_editor=ActiveEditor(file_path="app.py"), command=command)

    async def playing() -> None:
        await whole("make it simpler", script, files, context=context)

    run_in_virtual_time(playing)
    return "\n".join(message.content for message in script.requests[0].messages)


def test_the_model_is_told_what_the_file_uses_of_what_it_imports_and_by_no_other_command() -> None:
    files = {
        "app.py": "from config import read\nfrom plain import *\nfrom secret import key\n\nread('x')\n",
        "config.py": CONFIG,
        "plain.py": "print('a')\n" * 50,
        ".env": "import app\n",
        "other.py": "def stranger():\n    pass\n",
    }
    told = prompt(files)
    assert "imported by app.py" in told
    assert "config.py:4-7" in told
    assert "return LIMIT" in told
    assert "def unused" not in told
    assert f"plain.py:1-{BEGINNING}" in told
    assert "stranger" not in told
    assert "config.py" not in prompt(files, "/explain").replace(files["app.py"], "")


def test_a_prompt_with_many_large_imports_stays_within_its_part_of_the_window() -> None:
    names = [f"part{number}" for number in range(12)]
    files = {name + ".py": f"def {name}():\n" + "    call_of_something(1, 2, 3)\n" * 900 for name in names}
    files["app.py"] = "".join(f"from {name} import {name}\n" for name in names)
    told = prompt(files)
    assert 1 <= told.count("imported by app.py") <= MOST_IMPORTED
    assert f"part0.py:1-{MOST_LINES}" in told
    assert tokens(told) < REMOTE.context_window // 2
