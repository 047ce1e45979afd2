"""Child processes of the supervisor: forked, named, and never outliving it.

Forking after the application has been imported makes the start of a child, and the restart of a
killed one, a matter of milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
# How long a thread that computes keeps those waiting that answer other calls, in seconds. Python's
# 5 ms, met a few times in a call, are most of what one account's flood costs the others.
SWITCH_SECONDS = 0.0005


def fork(name: str, work: Callable[[], None]) -> int:
    """Run work in a child process and return the child's id.

    The child dies with its parent, ignores Ctrl-C (its parent stops it) and ends with status 0
    when the work returns, 1 when it raises.

    Raises:
        RuntimeError: this process runs threads, whose locks a fork would copy.
    """
    if threading.active_count() > 1:
        raise RuntimeError("A process with threads cannot be forked safely.")
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _become(name, parent)
        os._exit(_run(work))
    return child


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends; Linux only, harmless elsewhere."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(name: str, parent: int) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.setswitchinterval(SWITCH_SECONDS)
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    _prctl(_PR_SET_NAME, name.encode("ascii")[:15])


def _run(work: Callable[[], None]) -> int:
    """Do the work and tell the exit status."""
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
