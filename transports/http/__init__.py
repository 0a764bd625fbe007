"""HTTP: Hypercorn and Quart behind our own guard, request bodies, and the files of pages."""
