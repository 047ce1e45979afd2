"""Forks the child processes of the supervisor. A child never outlives the supervisor.

Children are forked after the application has been imported, so they start within milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import ipaddress
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
# Seconds after which a computing thread lets others run. Python's default is 5 ms. With it, thread
# switches would cause most of the delay that one account's flood of calls causes for others.
SWITCH_SECONDS = 0.0005


def fork(name: str, work: Callable[[], None], holds_stop: bool = False) -> int:
    """Run `work` in a child process, and return the child's process id.

    The child ends with its parent and has its own process group. Its status is 0 if the work
    returns, 1 if it raises. With `holds_stop`, SIGTERM stays pending until the work calls
    `handle_stop`. Otherwise a stop right after the start kills the child before its handler is set.

    Raises:
        RuntimeError: this process has threads, whose locks a fork would copy.
    """
    if threading.active_count() > 1:
        raise RuntimeError("A process with threads cannot be forked safely.")
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    child = os.fork()
    if child == 0:
        _become(name, parent)
        if not holds_stop:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os._exit(_run(work))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return child


def handle_stop(stop: Callable[[], None]) -> None:
    """Call a function on SIGTERM, also if the signal arrived between the fork and this call."""
    signal.signal(signal.SIGTERM, lambda *_: stop())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def pause_collections() -> None:
    """Stop the garbage collector until `resume_collections`: imports create no garbage."""
    gc.disable()


def resume_collections() -> None:
    """Collect garbage again, here and in later forks, but never among the existing objects."""
    # They are modules, which stay: looking at 200,000 objects again takes longer than a fork.
    gc.freeze()
    gc.enable()


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent ends. This works only on Linux."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(name: str, parent: int) -> None:
    signal.set_wakeup_fd(-1)
    # The supervisor stops its children in order. `timeout` and terminals signal the whole group,
    # which would end the emulated AWS before the data is saved.
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.setswitchinterval(SWITCH_SECONDS)
    die_with_parent()
    if os.getppid() != parent:  # The parent ended before this process could ask the kernel.
        os._exit(1)
    _prctl(_PR_SET_NAME, name.encode("ascii")[:15])


def _run(work: Callable[[], None]) -> int:
    status = 1
    try:
        work()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else 1
    except BaseException:  # noqa: BLE001 - the child's last resort: say why, then end
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return status


def _prctl(option: int, value: int | bytes) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value)


def refuse_network() -> None:
    """Prevent connections from this process and its forks to other machines.

    A connection or a look-up of a name then fails with OSError (ENETUNREACH).
    """
    sys.addaudithook(_refuse_other_machines)


def _refuse_other_machines(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        return
    # A socket's address is a pair of host and port, or the path of a Unix socket.
    address = arguments[0] if event == "socket.getaddrinfo" else arguments[-1]
    host = address[0] if isinstance(address, tuple) else address
    if event != "socket.getaddrinfo" and not isinstance(address, tuple):
        return
    if not _is_this_machine(host):
        raise OSError(errno.ENETUNREACH, f"the stack runs with --offline, and {host} is elsewhere")


def _is_this_machine(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(str(host))
        return address.is_loopback or address.is_unspecified
    return False
