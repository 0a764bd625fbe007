"""File IPC: a desk of request and response files between scripts and an editor."""
