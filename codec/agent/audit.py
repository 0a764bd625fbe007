"""The audit log of a workspace: stream `agent/audit/WORKSPACE`, an entry for every change of its policy and of its
remembered approvals, never changed and never removed. Each session of the workspace tells the entries in its own log,
too."""

from codec.agent.approvals import Remembered
from codec.agent.numbered import Numbered
from codec.agent.workspaces import Policy, PolicyChange

AUDIT = "agent/audit/"


class PolicyAudited(Numbered, frozen=True, kw_only=True, tag="policy.changed"):
    at: float
    """Seconds since 1970."""
    by: str
    """Where the change came from."""
    change: PolicyChange
    before: Policy


class ApprovalRemembered(Numbered, frozen=True, kw_only=True, tag="approval.remembered"):
    at: float
    by: str
    """The name of the client that has answered."""
    approval: Remembered


class ApprovalForgotten(Numbered, frozen=True, kw_only=True, tag="approval.forgotten"):
    at: float
    by: str
    """Where the wish came from."""
    approval: Remembered


AuditEvent = PolicyAudited | ApprovalRemembered | ApprovalForgotten
