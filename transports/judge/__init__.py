"""The Judge and the outside world: its port, the problems' folders, and how solutions are run."""
