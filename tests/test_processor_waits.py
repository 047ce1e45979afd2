"""The processor waits of child processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tests.processor_waits import ProcessorWaits

LOOP = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"


def test_children_that_share_one_processor_wait_for_it():
    """The measured waits grow while two busy child processes share one processor."""
    processor = min(os.sched_getaffinity(0))
    command = [sys.executable, "-c", LOOP % processor]
    before = ProcessorWaits.measure()
    children = [subprocess.Popen(command) for _ in range(2)]
    try:
        while ProcessorWaits.measure().seconds_since(before) < 0.1:
            time.sleep(0.05)
    finally:
        for child in children:
            child.kill()
            child.wait()
