"""The sockets on which the local stack listens."""

from __future__ import annotations

import ipaddress
import socket

LOOPBACK = "127.0.0.1"


class CannotStart(Exception):
    """The stack cannot start; the error text says why and what to do."""


def bind(port: int, variable: str, host: str = LOOPBACK) -> socket.socket:
    """Bind a port of an address.

    Raises:
        CannotStart: the port is in use; the error text names the variable that sets the port.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
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
    """Return the URL by which this machine reaches a bound socket."""
    host, port = listener.getsockname()[:2]
    # A socket that listens on every address is reached by the loopback address.
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if ":" in host else LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    return ipaddress.ip_address(host).is_loopback


def host_name(netloc: str) -> str:
    """Return the host of `host:port` in lower case."""
    host, colon, port = netloc.rpartition(":")
    return (host if colon and not port.strip("0123456789") else netloc).lower().removesuffix(".")


def names_this_machine(host: str) -> bool:
    """Return whether a Host header has a name that no other machine can have.

    These names are `localhost`, names that end in `.localhost`, and loopback addresses. Browsers do
    not look them up, so DNS rebinding cannot use them.
    """
    name = host_name(host)
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return is_loopback(name.strip("[]"))
    except ValueError:
        return False
