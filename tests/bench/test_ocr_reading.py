"""What the OCR benchmark counts: CPU time and intervals."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import fmean

from bench.ocr_reading import Cost, cpu_seconds, interval

BURN = "sum(range(6_000_000))"


def test_cpu_time_of_children_counts() -> None:
    """Work of a child process is counted, waiting is not."""
    before = cpu_seconds()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert cpu_seconds() - before >= 0.03
    cost = Cost()
    with cost.document():
        time.sleep(0.2)
    assert cost.wall[0] >= 0.2
    assert cost.mean_cpu < 0.15


def test_interval_is_repeatable_and_holds_the_score() -> None:
    """The same values give the same interval around their mean; one value has none."""
    values = [0.0, 1.0, 1.0, 1.0, 0.5, 0.75]
    low, high = interval(values, fmean) or (1.0, 0.0)
    assert low < fmean(values) < high
    assert interval(values, fmean) == (low, high)
    assert interval([1.0], fmean) is None
