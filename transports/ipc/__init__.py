"""File IPC and the outside world: the folder of requests and responses, and the port of its desk."""
