"""Child processes of the local stack."""

from __future__ import annotations

import subprocess
import sys

from infra.local.process import SWITCH_SECONDS

FORKED = """
import os, sys
from infra.local.process import fork
os.waitpid(fork("child", lambda: print(sys.getswitchinterval(), flush=True)), 0)
"""


def test_threads_of_a_child_take_turns_quickly() -> None:
    """A call that computes does not keep the others waiting for 5 ms at each of their steps."""
    said = subprocess.run(
        [sys.executable, "-c", FORKED], check=True, capture_output=True, text=True, timeout=60
    )

    assert float(said.stdout) == SWITCH_SECONDS <= 0.001


STOPPED_EARLY = """
import os, signal
from infra.local.process import fork, handle_stop
begun, begin = os.pipe()

def work():
    os.read(begun, 1)
    handle_stop(lambda: print("saved", flush=True))

child = fork("child", work, holds_stop=True)
os.kill(child, signal.SIGTERM)
os.write(begin, b"x")
print(os.waitpid(child, 0)[1])
"""


def test_a_stop_right_after_the_fork_reaches_the_handler() -> None:
    """A child that holds a stop handles a SIGTERM that came before it had set its handler."""
    output = subprocess.run(
        [sys.executable, "-c", STOPPED_EARLY],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout

    assert output.split() == ["saved", "0"]
