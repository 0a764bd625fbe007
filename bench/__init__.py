"""Benchmarks of ours and the next best alternatives, in one run. harness.py says how we measure; `python -m bench`
lists them."""
