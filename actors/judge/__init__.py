"""The judge: problems from the browser become folders, solutions are run against their cases."""

from actors.judge.desk import Desk, judge_specs
from actors.judge.limits import limits
from actors.judge.problems import Problems
from actors.judge.run import Order, Run

__all__ = ["Desk", "Order", "Problems", "Run", "judge_specs", "limits"]
