"""Mutants: small faults, put into a copy of the source one at a time. What no test notices is a missing test.

    python -m tests.mutants --room sidekick --number 40 --seed 1

The same tree, room, number and seed draw the same mutants. `--at actors/sidekick/prose.py:51` tries every mutant of a
file, or of a line of it; with `--number`, that many. What lives is printed as a diff; the exit code is 1 when something
does.

Lines are drawn, not mutants, so that a line full of operators counts no more than any other. The tests of the room are
asked first, then all others; browsers' never. Only those are asked that come to the line, and `trial.py` tells how that
is known. A mutant that is still alive then has survived. One with which a test takes five times as long is killed.
"""
