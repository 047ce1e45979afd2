"""Finds the addresses at which processes listen, as Linux lists them: loopback alone is safe."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_LISTENING = "0A"
_SOCKET = re.compile(r"socket:\[(\d+)\]")
_PROC = Path("/proc")

Address = tuple[str, int]
"""IP address and port."""


def descendants(pid: int) -> list[int]:
    """Return a process and all processes below it."""
    children: dict[int, list[int]] = {}
    for child in _processes():
        parent = _parent(child)
        if parent is not None:
            children.setdefault(parent, []).append(child)
    found = [pid]
    for known in found:
        found += children.get(known, [])
    return found


def listeners(pids: Iterable[int]) -> list[Address]:
    """Return where TCP connections to these processes are taken."""
    owned = {inode for pid in pids for inode in _inodes(pid)}
    return sorted(
        address
        for table in ("tcp", "tcp6")
        for address, inode in _table(_PROC / "net" / table)
        if inode in owned
    )


def open_to_others(addresses: Iterable[Address]) -> list[Address]:
    """Return the addresses that another machine may reach."""
    return [found for found in addresses if not ipaddress.ip_address(found[0]).is_loopback]


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir(_PROC) if name.isdigit())


def _parent(pid: int) -> int | None:
    try:
        # The name is in brackets and may hold anything, so only what follows the last one counts.
        return int((_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _inodes(pid: int) -> Iterator[str]:
    """Yield the numbers of a process's sockets."""
    folder = _PROC / str(pid) / "fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            found = _SOCKET.match(os.readlink(folder / name))
        except OSError:
            continue
        if found:
            yield found.group(1)


def _table(path: Path) -> Iterator[tuple[Address, str]]:
    for line in path.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == _LISTENING:
            host, _, port = fields[1].partition(":")
            yield (_ip(host), int(port, 16)), fields[9]


def _ip(text: str) -> str:
    """Read an address: words of 32 bits, each in the byte order of this machine."""
    words = (bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8))
    found = ipaddress.ip_address(b"".join(words))
    # Java writes 127.0.0.1 as an address of IPv6.
    return str(getattr(found, "ipv4_mapped", None) or found)
