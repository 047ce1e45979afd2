"""On a machine without a free processor work is slow but does not fail."""

from __future__ import annotations

from tests.busy import busy_loops
from tests.flows.client import LANGUAGE
from tests.flows.world import World, csv_file

LOOPS = 4
LABELS = 1_000
PATIENCE = 400
"""Longest wait on a machine that has other work as well, in seconds."""


def test_a_thousand_labels_are_read_next_to_busy_loops(world: World) -> None:
    """1,000 rows of 1,000 labels are read, however many attempts lose their lease."""
    caller = world.caller()
    rows = [(f"this is text number {number}", f"label {number}") for number in range(LABELS)]
    with busy_loops(LOOPS):
        posted = caller.upload(csv_file(rows))
        done = caller.wait_dataset(posted["id"], PATIENCE)

    assert (done["statusMsg"], done["totalExamples"], done["totalLabels"]) == (
        "SUCCEEDED",
        LABELS,
        LABELS,
    )
    [receipt] = caller.items(f"{LANGUAGE}/datasets/{posted['id']}/receipts")
    assert (receipt["seen"], receipt["kept"]) == (LABELS, LABELS)
