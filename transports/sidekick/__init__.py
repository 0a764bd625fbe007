"""Sidekick and the outside world: its port, scripts that run in the browser, and a client of its own."""
