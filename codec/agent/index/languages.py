"""Which language a file has, and the grammar that reads it.

The ending decides, then the name (Makefile), then the `#!` line. A grammar is a library of its own and is loaded when
the first file of its language comes: a process that never sees C# never loads it.
"""

import re
from collections.abc import Mapping
from functools import cache

from tree_sitter import Language, Parser

ENDINGS: Mapping[str, str] = {
    ending: language
    for language, endings in {
        "python": "py pyi pyw pyx pxd pxi wsgi",
        "javascript": "js jsx mjs cjs es6",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "go": "go",
        "rust": "rs",
        "java": "java",
        "c": "c",
        "cpp": "cc cpp cxx c++ h hh hpp hxx h++ ipp tpp inl ino cu cuh",
        "c_sharp": "cs csx",
        "ruby": "rb rake gemspec ru rbi",
        "php": "php phtml php5 inc",
        "html": "html htm xhtml",
        "css": "css",
        "json": "json jsonc json5 geojson webmanifest ipynb",
        "bash": "sh bash zsh ksh bats",
        "markdown": "md markdown mdx mkd",
        "rst": "rst rest",
        # known by name only: their lines are kept, and their definitions are found line by line if at all
        "kotlin": "kt kts",
        "swift": "swift",
        "scala": "scala sc",
        "groovy": "groovy gradle",
        "dart": "dart",
        "objective_c": "m mm",
        "sql": "sql",
        "vue": "vue",
        "svelte": "svelte",
        "less": "scss sass less",
        "yaml": "yml yaml",
        "toml": "toml",
        "ini": "ini cfg conf properties editorconfig",
        "xml": "xml xsd xsl svg plist csproj props targets vcxproj resx xaml",
        "perl": "pl pm",
        "lua": "lua",
        "r": "r",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "haskell": "hs",
        "ocaml": "ml mli",
        "clojure": "clj cljs cljc edn",
        "zig": "zig",
        "nim": "nim",
        "julia": "jl",
        "powershell": "ps1 psm1",
        "batch": "bat cmd",
        "make": "mk mak",
        "cmake": "cmake",
        "protobuf": "proto",
        "graphql": "graphql gql",
        "terraform": "tf tfvars hcl",
        "assembly": "s asm",
        "fortran": "f f77 f90 f95 f03 f08",
        "f_sharp": "fs fsi fsx",
        "basic": "vb vbs bas",
        "pascal": "pas dpr lpr",
        "ada": "adb ads",
        "cobol": "cob cbl",
        "lisp": "lisp lsp el scm ss rkt",
        "hardware": "v sv svh vh vhd vhdl",
        "solidity": "sol vy",
        "gdscript": "gd",
        "shader": "glsl hlsl vert frag geom comp wgsl metal",
        "astro": "astro",
        "crystal": "cr",
        "elm": "elm purs",
        "reason": "re rei res resi",
        "coffeescript": "coffee",
        "fish": "fish",
        "awk": "awk",
        "tcl": "tcl",
        "vim": "vim",
        "nix": "nix",
        "starlark": "bzl star bazel",
        "puppet": "pp",
        "jsonnet": "jsonnet libsonnet cue",
        "qml": "qml",
        "haxe": "hx",
        "d": "d",
        "grammar": "y yy yacc ll lex g4 pest peg",
        "interface": "thrift capnp fbs avdl idl",
        "build": "gn gni ninja",
        "web_template": "cshtml razor jsp jspx pug jade",
        "stylus": "styl",
        "actionscript": "as",
        "matlab": "matlab",
        "webassembly": "wat",
        "mojo": "mojo",
        "tex": "tex sty cls",
        "text": "txt text adoc asciidoc org pod",
        "table": "csv tsv",
        "template": "j2 jinja jinja2 tmpl mustache hbs ejs erb haml twig liquid",
        "translation": "po pot",
        "diff": "diff patch",
    }.items()
    for ending in endings.split()
}
NAMES: Mapping[str, str] = {
    name: language
    for language, names in {
        "make": "makefile gnumakefile",
        "dockerfile": "dockerfile containerfile",
        "cmake": "cmakelists.txt",
        "ruby": "rakefile gemfile vagrantfile podfile guardfile brewfile capfile fastfile",
        "groovy": "jenkinsfile",
        "python": "sconstruct sconscript wscript",
        "bash": ".bashrc .bash_profile .profile .zshrc pkgbuild apkbuild",
        "json": ".babelrc .eslintrc .jshintrc composer.lock pipfile.lock flake.lock",
        "toml": "pipfile cargo.lock poetry.lock uv.lock",
        "go_module": "go.mod go.sum go.work",
        "text": "readme license licence copying authors changelog changes news install todo notice contributors",
    }.items()
    for name in names.split()
}
_PROGRAMS: Mapping[str, str] = {
    program: language
    for language, programs in {
        "python": "python pypy",
        "bash": "sh bash zsh ksh dash ash",
        "javascript": "node nodejs deno bun",
        "typescript": "ts-node tsx",
        "ruby": "ruby jruby",
        "php": "php",
        "perl": "perl",
        "lua": "lua",
        "r": "rscript",
        "groovy": "groovy",
        "julia": "julia",
    }.items()
    for program in programs.split()
}
_SHEBANG = re.compile(r"\ufeff?#!\s*(\S+)((?:\s+\S+)*)")

GRAMMARS = frozenset(
    {
        *("python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "c_sharp", "ruby", "php"),
        *("css", "json", "bash"),
    }
)
"""The languages that are parsed. HTML is looked through without: most of it is templates, which no grammar reads."""


def language_of(path: str, first_line: str = "") -> str:
    """Empty: none that is known."""
    name = path.rpartition("/")[2].lower()
    if name in NAMES:
        return NAMES[name]
    stem, dot, ending = name.rpartition(".")
    if dot:
        if ending in ENDINGS:
            return ENDINGS[ending]
        if ending in ("in", "dist", "example", "sample", "template", "tpl") and "." in stem:
            return language_of(stem, first_line)
        if stem in ("dockerfile", "makefile"):
            return NAMES[stem]
    if (found := _SHEBANG.match(first_line[:200])) is not None:
        words = [found[1], *found[2].split()]
        if words[0].endswith("/env"):
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        program = words[0].rpartition("/")[2].lower() if words else ""
        return _PROGRAMS.get(program) or _PROGRAMS.get(program.rstrip("0123456789."), "")
    return ""


@cache
def grammar(language: str) -> Language:
    """Raises KeyError if there is none."""
    return Language(_pointer(language))


@cache
def parser(language: str) -> Parser:
    """One for each language and process: a parser is no thing for two threads."""
    return Parser(grammar(language))


def _pointer(language: str) -> object:
    match language:
        case "python":
            import tree_sitter_python

            return tree_sitter_python.language()
        case "javascript":
            import tree_sitter_javascript

            return tree_sitter_javascript.language()
        case "typescript":
            import tree_sitter_typescript

            return tree_sitter_typescript.language_typescript()
        case "tsx":
            import tree_sitter_typescript

            return tree_sitter_typescript.language_tsx()
        case "go":
            import tree_sitter_go

            return tree_sitter_go.language()
        case "rust":
            import tree_sitter_rust

            return tree_sitter_rust.language()
        case "java":
            import tree_sitter_java

            return tree_sitter_java.language()
        case "c":
            import tree_sitter_c

            return tree_sitter_c.language()
        case "cpp":
            import tree_sitter_cpp

            return tree_sitter_cpp.language()
        case "c_sharp":
            import tree_sitter_c_sharp

            return tree_sitter_c_sharp.language()
        case "ruby":
            import tree_sitter_ruby

            return tree_sitter_ruby.language()
        case "php":
            import tree_sitter_php

            return tree_sitter_php.language_php()
        case "css":
            import tree_sitter_css

            return tree_sitter_css.language()
        case "json":
            import tree_sitter_json

            return tree_sitter_json.language()
        case "bash":
            import tree_sitter_bash

            return tree_sitter_bash.language()
        case _:
            raise KeyError(language)
