"""How often a reader of the text training has to return to an earlier file."""

from __future__ import annotations

from tests.structure.training_trip import record_training

# It was 49 before the training became a list of steps.
MAX_RETURNS = 20


def test_training_reads_from_top_to_bottom() -> None:
    """Following a text training, a reader returns to earlier files at most twenty times."""
    trip = record_training()

    assert trip.returns <= MAX_RETURNS, str(trip)
