"""Ours beside the next best thing, in one run. harness.py says how it is measured, `python -m bench` what."""
