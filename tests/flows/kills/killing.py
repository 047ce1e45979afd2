"""How pieces of a stack are killed."""

from __future__ import annotations

import time

from tests.local_stack import LocalStack

PATIENCE = 60.0
"""Longest wait for work that was killed, in seconds."""


def kill(stack: LocalStack, name: str) -> None:
    """Kill a piece and wait until the supervisor has started it again."""
    old = stack.kill_worker(name)
    while stack.processes[name] == old:
        time.sleep(0.02)
