"""The judge: turns problems from the browser into folders, and runs solutions on their cases."""

from actors.judge.desk import JudgeDesk, judge_specs
from actors.judge.limits import limits
from actors.judge.problems import Problems
from actors.judge.run import Run, RunOrder
from actors.judge.telling import trouble

__all__ = ["JudgeDesk", "Problems", "Run", "RunOrder", "judge_specs", "limits", "trouble"]
