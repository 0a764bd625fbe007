"""The agent and the outside world: its port and token, the servers of models, and the files of workspaces."""
