"""The names of the judge's actors in the registry."""

from actors.judge.messages.intake import IntakeMessage
from actors.judge.messages.panel import PanelMessage
from actors.judge.messages.problem import ProblemMessage
from actors.judge.messages.run import Judged
from actors.judge.messages.shelf import ShelfMessage
from actors.kernel import Children, Key

SHELF = Key[ShelfMessage]("judge/shelf")
INTAKE = Key[IntakeMessage]("judge/intake")
PROBLEMS = Key[Children[ProblemMessage]]("judge/problems")
RUNS = Key[Children[Judged]]("judge/runs")
PANELS = Key[Children[PanelMessage]]("judge/panels")
