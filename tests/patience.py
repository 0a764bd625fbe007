"""How long a test waits for what others do: a browser, a server, a socket, a disk."""

PATIENCE = 25.0
"""Seconds. On a machine that has nothing else to do, a twenty-fifth is enough, so whoever runs out of it has waited for
something that never comes. It is less than the 30 s after which the server gives up a client (`send_seconds`, or
`ping_seconds` and `pong_seconds`), so no test takes that for what it waits for; and less than half of a test's limit
(`timeout` in pyproject.toml), so the test still says what has not come. A short limit is given only where the limit
itself is what is tested."""
