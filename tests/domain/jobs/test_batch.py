"""Names of result files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.domain.jobs.batch import Batch

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("tickets.xlsx", "intent", "tickets-classified.xlsx"),
        ("Mai 2.5", "sentiment", "Mai 2.5-classified.xlsx"),
        ("forms.ZIP", "ocr", "forms-read.xlsx"),
        ("a/b\\c", "detect", "a-b-c-detected.xlsx"),
        ("new", "rank", "new-ranked.xlsx"),
    ],
)
def test_a_result_is_saved_under_the_name_of_its_input(name: str, kind: str, expected: str) -> None:
    """Browsers save a result under the input's name and what was done with it."""
    batch = Batch("B1", "1", "language", name, "M", "1", kind, "xlsx", {}, NOW, NOW, NOW)

    assert batch.file_name == expected
