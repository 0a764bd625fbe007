"""The program around the tree: command line, settings, logs, start and stop. It knows nothing of any system."""
