"""Tests of the client's size, and of its import time compared with that of httpx."""

from __future__ import annotations

import pytest

from bench.bench_client import import_ratio, packed_size


def test_package_is_small():
    """The wheel has less than 200 kB."""
    assert packed_size() < 200_000


@pytest.mark.timeout(400)
def test_import_takes_little_longer_than_httpx():
    """Signing, retries, the command and progress bars are imported only when needed."""
    assert any(import_ratio(3) <= 1.5 for _ in range(2))
