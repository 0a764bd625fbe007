"""What the registry knows the judge's actors by."""

SHELF = "judge/shelf"
INTAKE = "judge/intake"
PROBLEMS = "judge/problems"
RUNS = "judge/runs"
PANELS = "judge/panels"
