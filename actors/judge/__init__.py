"""The judge: turns problems from the browser into folders, and runs solutions on their cases."""

from actors.judge.desk import Desk, judge_specs
from actors.judge.limits import limits
from actors.judge.problems import Problems
from actors.judge.run import Order, Run

__all__ = ["Desk", "Order", "Problems", "Run", "judge_specs", "limits"]
