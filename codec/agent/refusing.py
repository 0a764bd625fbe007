"""What the port answers when it cannot do what was asked: a status, the contract's code, a sentence, and the place."""

from codec.agent.events import ErrorCode


class ContractRefusal(Exception):
    """The text can be shown. `where`: the JSON path of what is wrong with the body."""

    def __init__(self, status: int, code: ErrorCode, sentence: str, where: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.where = where


def no_session() -> ContractRefusal:
    advice = "It may have been deleted; `troupe sessions` lists those that are there."
    return ContractRefusal(404, "SESSION_NOT_FOUND", f"Session not found. {advice}")


def no_workspace() -> ContractRefusal:
    advice = "Register its folder with POST /v1/workspaces/register."
    return ContractRefusal(404, "WORKSPACE_NOT_FOUND", f"Workspace not found. {advice}")
