"""What each system of the house is made of: one file for each branch of the tree below the top.

A file here takes actors from one room and transports from another and makes them one branch; it decides nothing else.
They are loaded only by who runs them: `troupe tree` need not wait for a web server.
"""
