"""Changes the cards of a model's versions; everything else of a version is written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.stores.artifacts import ArtifactStore, model_prefix
from chalicelib.stores.model_files import CARD


class ModelCards:
    """Cards of all versions, served or not."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def change(self, model_id: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Write each card anew that the change alters; True when there was one.

        Raises:
            StorageUnavailable: some may be as they were.
        """
        is_changed = False
        for key in self._artifacts.keys(model_prefix(model_id)):
            card = self._artifacts.get_json(key) if key.endswith(f"/{CARD}") else None
            changed = change(card) if card else card
            if changed != card:
                self._artifacts.put_json(key, changed)
                is_changed = True
        return is_changed

    def delete(self, model_id: str) -> None:
        """Delete everything of a model that is gone, in case a card was written after it went.

        Raises:
            StorageUnavailable: some of it may still be there.
        """
        self._artifacts.delete_prefix(model_prefix(model_id))
