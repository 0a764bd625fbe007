"""The index of a workspace: the actors that keep it up to date, and those that ask it."""
