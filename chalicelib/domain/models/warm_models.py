"""A cache of recently used models. Several threads can use it at the same time."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from chalicelib import metrics

Kept = TypeVar("Kept")


class WarmModels(Generic[Kept]):
    """Loaded models by id and version. A full cache evicts the least recently used model."""

    def __init__(
        self,
        limit: int,
        most_bytes: float = math.inf,
        bytes_of: Callable[[Kept], int] = lambda model: 0,
        family: str = "none",
    ) -> None:
        """Create an empty cache.

        The model that was loaded last is never evicted, even above `most_bytes`. `bytes_of` returns
        the memory of a model in bytes. `family` is a dimension of the cache's metrics.
        """
        self._limit = limit
        self._most_bytes = most_bytes
        self._bytes_of = bytes_of
        self._family = family
        self._bytes = 0
        self._models: OrderedDict[tuple[str, str], Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str], read: Callable[[], Kept]) -> Kept:
        """Return the model for a key, and call `read` to load it if it is not cached."""
        with self._lock:
            if key in self._models:
                self._models.move_to_end(key)
                self._note("hit")
                return self._models[key]
        self._note("miss")
        model = read()
        with self._lock:
            if key not in self._models:
                # Another thread may have loaded it meanwhile; then its copy stays.
                self._models[key] = model
                self._bytes += self._bytes_of(model)
            while self._is_full():
                _, gone = self._models.popitem(last=False)
                self._bytes -= self._bytes_of(gone)
            return self._models.get(key, model)

    def _note(self, result: str) -> None:
        # Asked here, so that a prediction does not call another module for nothing.
        if metrics.Emission.recorder is not None:
            metrics.record({metrics.MODEL_READS: 1}, Family=self._family, Result=result)

    def _is_full(self) -> bool:
        if len(self._models) <= 1:
            return False
        return len(self._models) > self._limit or self._bytes > self._most_bytes
