"""A door: one port for HTTP and WebSocket, and the actor that owns it."""
