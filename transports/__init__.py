"""The outside world: turns bytes into messages for actors, and back. Transports decide nothing.

wire/, http/, websocket/, door/   a port, from its socket up to the requests and messages of one client
process/, folder/                 child processes; files and folders
sidekick/, judge/, ipc/, agent/   the ports of the systems, and what only they need; console.py: the console's port
"""
