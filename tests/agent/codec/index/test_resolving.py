# ruff: noqa: E501 - a case is read in one line
"""Which files a file imports, in each language, by nothing but paths and what is written."""

import pytest

from codec.agent.index.imports import imports_of
from codec.agent.index.languages import language_of
from codec.agent.index.resolving import resolved

CASES = {
    "python": (
        {
            "src/pkg/__init__.py": "from .core import run\nfrom . import extra",
            "src/pkg/core.py": "import os, json\nfrom pkg.extra import (\n    a,  # first\n    b as c,\n)\nimport pkg.sub.deep as d",
            "src/pkg/extra.py": "from ..outside import x\nfrom __future__ import annotations",
            "src/pkg/sub/__init__.py": "from .deep import *",
            "src/pkg/sub/deep.py": "from ..core import run; from pkg import extra",
            "src/pkg/json.py": "",
            "tests/test_core.py": "from pkg import core\nfrom pkg.sub import deep",
        },
        {
            "src/pkg/__init__.py": ["src/pkg/core.py", "src/pkg/extra.py"],
            "src/pkg/core.py": ["src/pkg/extra.py", "src/pkg/sub/deep.py"],
            "src/pkg/sub/__init__.py": ["src/pkg/sub/deep.py"],
            "src/pkg/sub/deep.py": ["src/pkg/core.py", "src/pkg/extra.py"],
            "tests/test_core.py": ["src/pkg/core.py", "src/pkg/sub/deep.py"],
        },
    ),
    "javascript": (
        {
            "src/a.ts": 'import { b } from "./b.js";\nexport * from "../lib";\nconst c = require("./c");\nimport("@/deep/d")',
            "src/b.ts": 'import "react";',
            "src/c/index.js": "",
            "src/deep/d.tsx": 'import x from "@scope/kit"',
            "lib/index.ts": "",
            "packages/kit/src/index.ts": "",
        },
        {
            "src/a.ts": ["src/b.ts", "lib/index.ts", "src/c/index.js", "src/deep/d.tsx"],
            "src/deep/d.tsx": ["packages/kit/src/index.ts"],
        },
    ),
    "c": (
        {
            "src/a.c": '#include <stdio.h>\n#include "a.h"\n# include "net/b.h"\n#include <proj/c.h>',
            "src/a.h": "",
            "include/net/b.h": "",
            "include/proj/c.h": "",
            "other/a.h": "",
        },
        {"src/a.c": ["src/a.h", "include/net/b.h", "include/proj/c.h"]},
    ),
    "go": (
        {
            "main.go": 'package main\nimport (\n\t"fmt"\n\t"net/http"\n\tx "example.com/app/store"\n)',
            "store/a.go": 'package store\nimport "example.com/app/store/http"',
            "store/a_test.go": "package store",
            "store/http/b.go": "package http",
        },
        {"main.go": ["store/a.go"], "store/a.go": ["store/http/b.go"]},
    ),
    "rust": (
        {
            "src/lib.rs": "mod net;\nuse crate::net::{client::Client, server};\nuse std::io;",
            "src/net/mod.rs": "pub mod client;\nmod server;",
            "src/net/client.rs": "use super::server::Server;",
            "src/net/server.rs": "",
        },
        {
            "src/lib.rs": ["src/net/mod.rs", "src/net/client.rs", "src/net/server.rs"],
            "src/net/mod.rs": ["src/net/client.rs", "src/net/server.rs"],
            "src/net/client.rs": ["src/net/server.rs"],
        },
    ),
    "others": (
        {
            "src/main/java/a/b/C.java": "import a.b.D;\nimport static a.b.D.run;\nimport java.util.List;",
            "src/main/java/a/b/D.java": "",
            "Core/Models/User.cs": "",
            "App/Program.cs": "using System;\nusing Shop.Core.Models;",
            "lib/shop/cart.rb": "require_relative 'item'\nrequire 'shop/order'\nrequire 'json'",
            "lib/shop/item.rb": "",
            "lib/shop/order.rb": "",
            "src/Model/User.php": "<?php",
            "src/Http/Page.php": "<?php\nuse App\\Model\\User;\nuse App\\{Model\\User, Other};",
            "src/main/java/a/b/E.java": "import a.*;\nimport a.c.*;",
            "src/main/java/a/c/F.java": "",
            "src/Http/More.php": "<?php\nuse App\\Model\\User as U, \\App\\Http\\Page;",
            "bin/run.sh": 'source "$(dirname "$0")/lib/a.sh"\n[ -f x ] && . "${HERE}/lib/b.sh"\n. $HERE/"lib"/c.sh 2>&1',
            "bin/lib/a.sh": "",
            "bin/lib/b.sh": ". './c.sh'\nsource $UNKNOWN\nsource <(generate)",
            "bin/lib/c.sh": "",
            "web/page.html": '<script src="/web/app.js"></script><link href="a.css"><a href="https://x.y/z.html">',
            "web/app.js": "",
            "web/a.css": '@import "parts/b.css"; @import url(https://x.y/c.css);',
            "web/parts/b.css": "",
        },
        {
            "src/main/java/a/b/C.java": ["src/main/java/a/b/D.java"],
            "App/Program.cs": ["Core/Models/User.cs"],
            "lib/shop/cart.rb": ["lib/shop/item.rb", "lib/shop/order.rb"],
            "src/main/java/a/b/E.java": ["src/main/java/a/c/F.java"],
            "src/Http/Page.php": ["src/Model/User.php"],
            "src/Http/More.php": ["src/Model/User.php", "src/Http/Page.php"],
            "bin/run.sh": ["bin/lib/a.sh", "bin/lib/b.sh", "bin/lib/c.sh"],
            "bin/lib/b.sh": ["bin/lib/c.sh"],
            "web/page.html": ["web/app.js", "web/a.css"],
            "web/a.css": ["web/parts/b.css"],
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_imports_lead_to_the_files_that_are_meant(case: str) -> None:
    files, expected = CASES[case]
    assert _led(files) == expected


@pytest.mark.parametrize("top", ["", "sub/", "a/b/c/"])
@pytest.mark.parametrize("case", CASES)
def test_imports_lead_there_wherever_in_the_workspace_the_project_lies(case: str, top: str) -> None:
    files, expected = CASES[case]
    shared = min(files).partition("/")[0] + "/"
    own = shared if all(path.startswith(shared) for path in files) else ""

    def moved(path: str) -> str:
        return top + path.removeprefix(own)

    there = {moved(path): [moved(target) for target in targets] for path, targets in expected.items()}
    assert _led({moved(path): text for path, text in files.items()}) == there


def _led(files: dict[str, str]) -> dict[str, list[str]]:
    given = {path: (language_of(path), imports_of(language_of(path), text)) for path, text in files.items()}
    return {path: list(targets) for path, targets in resolved(given).items()}


def test_of_several_that_fit_the_nearest_is_meant() -> None:
    files = {"a/pkg/x.py": ("python", ()), "b/pkg/x.py": ("python", ()), "b/app/main.py": ("python", ("pkg.x",))}
    assert resolved(files) == {"b/app/main.py": ("b/pkg/x.py",)}


def test_an_import_that_leads_out_of_the_workspace_leads_nowhere() -> None:
    odd = ("../../../etc/passwd", "/etc/passwd", ".", "..", "", "./", "//", "a::b", "::", "\\", '""', "<>", "*")
    languages = ("python", "javascript", "c", "go", "rust", "java", "c_sharp", "ruby", "php", "css", "html", "bash")
    for language in languages:
        assert resolved({"a/b": (language, odd), "c": ("", ())}) == {}


@pytest.mark.parametrize(
    ("path", "name", "leads"),
    [
        ("json.py", "json", True),  # a file at the top may hide the library's
        ("json/__init__.py", "json", True),
        ("json/sub/x.py", "json.sub.x", True),
        ("a/json.py", "json", False),
        ("a/json.py", "json.tool", False),
        ("a/json/__init__.py", "json", False),
        ("a/json/__init__.py", "json.tool", False),
        ("a/b/json.py", "json", False),
        ("src/json.py", "json", True),  # it stands beside who imports it
        ("src/json/__init__.py", "json", True),
        ("src/json/sub/__init__.py", "json.sub", True),
        ("src/json/sub/x.py", "json.sub.x", True),
        ("a/kit.py", "kit", True),  # no library's name
        ("a/kit/__init__.py", "kit.missing", True),
        ("a/kit/sub/x.py", "kit.sub.x", True),
    ],
)
def test_a_module_of_the_standard_librarys_name_is_meant_only_from_below_its_own_root(
    path: str, name: str, leads: bool
) -> None:
    files = {path: ("python", ()), "src/app/main.py": ("python", (name,))}
    assert resolved(files) == ({"src/app/main.py": (path,)} if leads else {})
