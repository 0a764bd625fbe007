"""The environment of the agent's commands.

It is made of a list of variables that hold no secrets, and of settings for a program that nobody sits in front of: no
pager, no colours, no questions. The settings for git (git_settings.py) and for PATH hold, whatever the order says.
"""

import os
from collections.abc import Mapping

from transports.agent.git_settings import git_variables
from transports.process.programs import clean_env

TOOLS = frozenset(
    """
    ANDROID_HOME BUN_INSTALL CARGO_HOME CONDA_PREFIX CURL_CA_BUNDLE DENO_DIR DOTNET_ROOT GEM_HOME GEM_PATH GOBIN GOCACHE
    GOMODCACHE GOPATH GOROOT GRADLE_USER_HOME JAVA_HOME M2_HOME MAVEN_HOME NIX_PATH NIX_PROFILES NVM_BIN NVM_DIR
    PKG_CONFIG_PATH PNPM_HOME PYENV_ROOT REQUESTS_CA_BUNDLE RBENV_ROOT RUSTUP_HOME SDKMAN_DIR SSL_CERT_DIR SSL_CERT_FILE
    VOLTA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
    """.split()  # noqa: SIM905  forty names are read as a paragraph
)
"""Where tools have their files. Beside what every program gets (`clean_env`)."""

UNATTENDED = {
    "CI": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "GCM_INTERACTIVE": "never",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
    "SYSTEMD_PAGER": "cat",
    "TERM": "dumb",
}
"""An order may say otherwise."""


def command_environment(
    wished: Mapping[str, str], base: Mapping[str, str], git_settings: Mapping[str, str] | None = None
) -> dict[str, str]:
    """`wished`: by an order. `base`: the server's own. `git_settings`: beside those of every command."""
    tools = {name: value for name, value in base.items() if name in TOOLS}
    wishes = {name: value for name, value in wished.items() if not name.startswith("GIT_CONFIG")}
    made = clean_env({**tools, **UNATTENDED, **wishes, **git_variables(git_settings or {})}, base)
    made["PATH"] = absolute(made["PATH"])
    return made


def absolute(path: str) -> str:
    """Without entries that mean another folder wherever a command runs: a program in the workspace is not found by its
    bare name."""
    entries = [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]
    return os.pathsep.join(dict.fromkeys(entries)) or os.defpath
