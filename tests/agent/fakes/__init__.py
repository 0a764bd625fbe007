"""Servers of models of our own, which speak the real wire formats over real sockets and do what a script says.

`FakeOllama` and `FakeOpenAI` run inside a test, under trio. `python -m tests.agent.fakes ollama --port 0` runs one as a
process; what it does is then up to the words of the user's message (`talking.py`).
"""

from tests.agent.fakes.ollama import FakeOllama
from tests.agent.fakes.openai import FakeOpenAI
from tests.agent.fakes.script import (
    Asked,
    Call,
    Die,
    Done,
    Fail,
    FakeModel,
    Forever,
    Hang,
    Leave,
    Pause,
    Raw,
    Refuse,
    Say,
    Script,
    Tell,
    Think,
    Usage,
)

__all__ = [
    "Asked",
    "Call",
    "Die",
    "Done",
    "Fail",
    "FakeModel",
    "FakeOllama",
    "FakeOpenAI",
    "Forever",
    "Hang",
    "Leave",
    "Pause",
    "Raw",
    "Refuse",
    "Say",
    "Script",
    "Tell",
    "Think",
    "Usage",
]
