"""Child processes: programs that are run with limits, and long-lived workers."""
