"""The room of those who name none."""

DEFAULT = "default"
"""By this name it can be asked for too."""
