"""The agent: workspaces, sessions that outlive their clients and the process, their turns, and the models."""
