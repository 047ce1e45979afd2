"""How many files and calls between files a warm prediction needs."""

from __future__ import annotations

from chalicelib.config import Settings
from tests.builders import World, empty_aws
from tests.conftest import MovableClock
from tests.structure.prediction_trip import record

MAX_FILES = 28
"""Most files that a warm intent prediction enters."""
MAX_HOPS = 57
"""Most calls from one of them into another."""


def test_warm_prediction_travels_little(
    aws_in_memory: None, settings: Settings, clock: MovableClock
) -> None:
    """A warm intent prediction enters few files, with few calls from file to file."""
    empty_aws(settings)

    trip = record(World(settings, clock))

    print(trip)  # noqa: T201 - shown by `pytest -s`, and when a bar is missed
    assert len(trip.files) <= MAX_FILES
    assert trip.hops <= MAX_HOPS
