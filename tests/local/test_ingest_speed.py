"""How long an upload takes on the local stack. Holds a time, so it runs alone."""

from __future__ import annotations

import time
from pathlib import Path

from tests.flows.world import World, csv_file
from tests.local_stack import LocalStack

LABELS = 1_000
SECONDS = 10.0


def test_a_thousand_labels_are_read_in_ten_seconds(closed_network: None, tmp_path: Path) -> None:
    """1,000 rows of 1,000 labels are there ten seconds after they were sent."""
    rows = [(f"this is text number {number}", f"label {number}") for number in range(LABELS)]
    with LocalStack() as stack:
        world = World(stack, tmp_path)
        caller = world.caller()
        caller.dataset(csv_file(rows[:2]))
        began = time.monotonic()
        done = caller.dataset(csv_file(rows))
        seconds = time.monotonic() - began
        world.close()

    assert (done["totalExamples"], done["totalLabels"]) == (LABELS, LABELS)
    assert seconds <= SECONDS
