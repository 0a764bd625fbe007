"""The judge: turns problems from the browser into folders, and runs solutions on their cases."""

from actors.judge.desk import Desk, judge_specs
from actors.judge.limits import limits
from actors.judge.run import Order, Run
from actors.judge.shelving import Shelving

__all__ = ["Desk", "Order", "Run", "Shelving", "judge_specs", "limits"]
