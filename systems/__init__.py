"""Builds the systems: one file for each branch of the tree below the top.

A file here takes the actors and the transports of one system and combines them into a branch. It decides nothing else.
It is loaded only when the branch is built, so `troupe tree` need not wait for a web server to load.
"""
