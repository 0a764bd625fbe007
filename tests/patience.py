"""How long a test waits for what others do: a browser, a server, a socket, a disk."""

PATIENCE = 30.0
"""Seconds. On a machine that has nothing else to do, a thirtieth is enough, so whoever runs out of it has waited for
something that never comes. It is less than half of a test's limit (`timeout` in pyproject.toml), so the test still says
for what it has waited. A short limit is given only where the limit itself is what is tested."""
