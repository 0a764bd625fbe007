"""The audit log of a workspace: stream `agent/audit/WORKSPACE`, an entry for every change of its policy, never changed
and never taken away."""

from msgspec import Struct

from codec.agent.workspaces import Policy, PolicyChange

AUDIT = "agent/audit/"


class PolicyAudited(Struct, frozen=True, kw_only=True, tag="policy.changed"):
    at: float
    """Seconds since 1970."""
    by: str
    """Where the change came from."""
    change: PolicyChange
    before: Policy
