"""The agent's contract as values: what HTTP and WebSocket carry, what a session's log holds, what a model is asked."""
