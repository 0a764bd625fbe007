"""The room of peers that name none."""

DEFAULT = "default"
"""By this name it can be asked for too."""
