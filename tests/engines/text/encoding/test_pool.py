"""The encoder pool: one text through several encoders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Barrier, current_thread

import numpy as np
import pytest

from chalicelib.engines.text.encoding import pool as encoder_pool
from chalicelib.engines.text.encoding.pool import EncoderPool


class _Meeting:
    """An encoder that records its thread and waits until all are running."""

    def __init__(self, name: str, barrier: Barrier) -> None:
        self.name = name
        self.thread = ""
        self._barrier = barrier

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self._barrier.wait(60)
        self.thread = current_thread().name
        return np.full((len(texts), 3), len(self.name), np.float32)


def _pool(
    monkeypatch: pytest.MonkeyPatch, threads: int, meeting: int
) -> tuple[EncoderPool, list[_Meeting]]:
    """Return a pool, and its encoders, which wait until a number of them are running."""
    barrier = Barrier(meeting)
    made: list[_Meeting] = []

    def load(directory: Path, name: str) -> _Meeting:
        made.append(_Meeting(name, barrier))
        return made[-1]

    monkeypatch.setattr(encoder_pool, "load_encoder", load)
    return EncoderPool(Path("."), threads=threads), made


def test_encoders_run_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two threads an answer takes as long as the slowest encoder, not the sum."""
    pool, _ = _pool(monkeypatch, threads=2, meeting=3)

    found = pool.vectors(["a", "bb", "ccc"], "text")

    assert {name: block.tolist() for name, block in found.items()} == {
        "a": [[1, 1, 1]],
        "bb": [[2, 2, 2]],
        "ccc": [[3, 3, 3]],
    }


def test_one_thread_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one processor no thread is started for an answer."""
    pool, made = _pool(monkeypatch, threads=1, meeting=1)

    found = pool.vectors(["a", "bb"], "text")

    assert [block.shape for block in found.values()] == [(1, 3), (1, 3)]
    assert {encoder.thread for encoder in made} == {current_thread().name}
