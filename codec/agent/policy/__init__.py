"""The agent's policy: may it change this file, may it run this command? Values in, a verdict out.

Only the user's settings, the session's mode and remembered approvals decide. Nothing that a file or a model says does.
"""

from codec.agent.policy.changes import change_verdict
from codec.agent.policy.commands import command_verdict
from codec.agent.policy.entries import is_prefix
from codec.agent.policy.paths import normal_path
from codec.agent.policy.readings import shows_settings
from codec.agent.policy.remembering import matches_remembered, may_remember, may_remember_exactly
from codec.agent.policy.risks import risk
from codec.agent.policy.rules import RULES, explanation
from codec.agent.policy.scripts import TELLING_NAMES, FilesTold, differing, files_behind, lines_behind
from codec.agent.policy.verdicts import ChangeWish, Mode, Verdict

__all__ = [
    "RULES",
    "TELLING_NAMES",
    "ChangeWish",
    "FilesTold",
    "Mode",
    "Verdict",
    "change_verdict",
    "command_verdict",
    "differing",
    "explanation",
    "files_behind",
    "is_prefix",
    "lines_behind",
    "matches_remembered",
    "may_remember",
    "may_remember_exactly",
    "normal_path",
    "risk",
    "shows_settings",
]
