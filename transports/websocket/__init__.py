"""WebSockets: trio-websocket with its faults contained, and a fast lane for very many small messages."""
