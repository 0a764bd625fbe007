"""What scripts import of Troupe. It loads nothing of the server."""
