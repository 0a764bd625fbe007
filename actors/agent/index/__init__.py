"""The index of a workspace: who keeps it up to date, and who asks it."""
