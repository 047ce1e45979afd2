"""Freed memory of large arrays is returned to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROBE = """
from pathlib import Path
import numpy as np
from chalicelib.engines.memory import bound_memory, release_memory

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

bound_memory()
before = held()
blocks = [(np.ones(2 * 2**20, np.uint8), np.ones(99_999, np.uint8)) for _ in range(100)]
guards = [guard for _, guard in blocks]
del blocks
kept = held() - before
release_memory()
print(kept, held() - before)
"""


def test_free_memory_is_given_back():
    """Freed blocks of 2 MB are reused within a document and returned after it."""
    answer = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=True
    )

    kept, left = map(int, answer.stdout.split())
    assert kept > 100
    assert left < 40


def test_memory_is_given_back_only_beyond_a_size():
    """Memory is returned only if the process has grown beyond a size."""
    probe = PROBE.replace(
        "import bound_memory, release_memory", "import bound_memory, release_memory_beyond"
    )
    for limit, is_trimmed in ((2**40, False), (1, True)):
        code = probe.replace("release_memory()", f"release_memory_beyond({limit})")
        answer = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        kept, left = map(int, answer.stdout.split())
        assert (left < kept / 2) is is_trimmed
