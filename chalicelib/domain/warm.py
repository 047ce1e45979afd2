"""Keeps the most recently used models in memory; safe to share between threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class WarmModels(Generic[Kept]):
    """Loaded models by id and version; the least recently used one goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._models: OrderedDict[tuple[str, str], Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str], read: Callable[[], Kept]) -> Kept:
        """Return a model, reading it when it is not there."""
        with self._lock:
            if key in self._models:
                self._models.move_to_end(key)
                return self._models[key]
        model = read()
        with self._lock:
            self._models[key] = model
            while len(self._models) > self._limit:
                self._models.popitem(last=False)
        return model
