"""The local stack over real sockets and processes, around a small application."""
