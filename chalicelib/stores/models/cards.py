"""Changes cards and learning curves of a model; everything else is written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.stores.aws.objects import ArtifactStore, model_prefix
from chalicelib.stores.models.files import CARD

_CURVES = "/curves/"


class ModelCards:
    """Cards of all versions, served or not, and the curves of all runs."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def change(self, model_id: str, change: Callable[[Any], Any]) -> bool:
        """Write each card and block of a curve anew that the change alters; True when one was.

        Args:
            model_id: the model.
            change: takes a card (an object) or a block of a curve (an array), returns the new one.
        """
        is_changed = False
        for key in self._artifacts.keys(model_prefix(model_id)):
            if not key.endswith(f"/{CARD}") and _CURVES not in key:
                continue
            document = self._artifacts.get_json(key)
            changed = change(document) if document else document
            if changed != document:
                self._artifacts.put_json(key, changed)
                is_changed = True
        return is_changed

    def delete(self, model_id: str) -> None:
        """Delete everything of a model that is gone, in case a card was written after it went."""
        self._artifacts.delete_prefix(model_prefix(model_id))
