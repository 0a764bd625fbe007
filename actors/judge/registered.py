"""The names of the judge's actors in the registry."""

SHELF = "judge/shelf"
INTAKE = "judge/intake"
PROBLEMS = "judge/problems"
RUNS = "judge/runs"
PANELS = "judge/panels"
