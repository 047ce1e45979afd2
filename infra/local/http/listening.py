"""The sockets on which the local stack listens."""

from __future__ import annotations

import socket


class CannotStart(Exception):
    """The stack cannot start; the text says why and what to do."""


def bind(port: int, variable: str, host: str = "127.0.0.1") -> socket.socket:
    """Bind a port of an address, by default of the loopback address.

    Raises:
        CannotStart: the port is in use; the text names the variable that sets another.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise CannotStart(
            f"port {port} of {host} cannot be used ({error.strerror}); stop the program that "
            f"uses it or set {variable} to another port."
        ) from error
    return listener


def address(listener: socket.socket) -> str:
    """Return the URL of a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}"
