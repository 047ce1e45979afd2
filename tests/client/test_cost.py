"""The client's size, and what its import costs beside that of httpx."""

from __future__ import annotations

import pytest

from bench.bench_client import import_ratio, packed_size


def test_package_is_small():
    """The wheel has less than 200 kB."""
    assert packed_size() < 200_000


@pytest.mark.timeout(400)
def test_import_costs_little_more_than_that_of_httpx():
    """What few calls need (signing, repeats, the command, progress bars) is loaded by them."""
    assert any(import_ratio(3) <= 1.5 for _ in range(2))
