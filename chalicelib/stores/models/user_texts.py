"""Texts of users for one adjustment of a model, stored in the bucket until its run has ended."""

from __future__ import annotations

import secrets

from chalicelib.domain.models.model import Model
from chalicelib.domain.models.user_texts import UserTexts
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix


class UserTextStore:
    """Reads, writes and deletes the texts of adjustments."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def put(self, model: Model, found: UserTexts) -> str:
        """Store the texts for the next run of a model; return their key."""
        # A random part, because of two simultaneous calls only one gets the run.
        key = f"{_prefix(model)}{model.run + 1}-{secrets.token_hex(8)}.json"
        content = {"texts": list(found.texts), "labels": list(found.labels)}
        self._artifacts.put_json(key, content)
        return key

    def get(self, key: str) -> UserTexts | None:
        """Return the texts with a key; None if they were deleted."""
        content = self._artifacts.get_json(key)
        return None if content is None else UserTexts(content["texts"], content["labels"])

    def delete(self, key: str) -> None:
        """Delete the texts of a call that was refused."""
        self._artifacts.delete(key)

    def delete_until(self, model: Model) -> None:
        """Delete the texts of the model's current and earlier runs.

        These include texts of calls that died before they queued a run.
        """
        prefix = _prefix(model)
        for key in self._artifacts.keys(prefix):
            if int(key.removeprefix(prefix).partition("-")[0]) <= model.run:
                self._artifacts.delete(key)


def _prefix(model: Model) -> str:
    return f"{model_prefix(model.model_id)}adjustments/"
