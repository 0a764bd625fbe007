"""Below HTTP and WebSocket: sockets, the first head of a connection, who may connect, and all limits."""
