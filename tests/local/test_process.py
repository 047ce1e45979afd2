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
