"""Texts of users for one run of a model, in the bucket until the run has ended."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from chalicelib.domain.models.model import Model
from chalicelib.domain.models.user_texts import UserTexts
from chalicelib.errors import TrainingFailed
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix


class UserTextStore:
    """Reads, writes and deletes texts of adjustments, and texts without labels of trainings."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def new_key(self, model: Model) -> str:
        """Return a new key for the texts of the next run of a model."""
        # A random part, because of two simultaneous calls only one gets the run.
        return f"{_prefix(model)}{model.run + 1}-{secrets.token_hex(8)}.json"

    def put(self, key: str, found: UserTexts) -> None:
        """Store the texts of a run."""
        content = {"texts": list(found.texts), "labels": list(found.labels)}
        self._artifacts.put_json(key, content)

    def get(self, key: str) -> UserTexts | None:
        """Return the texts stored under a key; None if they were deleted."""
        content = self._artifacts.get_json(key)
        return None if content is None else UserTexts(content["texts"], content["labels"])

    def put_unlabelled(self, model: Model, texts: Sequence[str]) -> None:
        """Store texts without labels for the current run of a model."""
        self._artifacts.put_json(_unlabelled_key(model), list(texts))

    def unlabelled(self, model: Model) -> tuple[str, list[str]]:
        """Return a key prefix for vectors of the current run's unlabelled texts, and the texts.

        Raises:
            TrainingFailed: the texts are deleted.
        """
        texts = self._artifacts.get_json(_unlabelled_key(model))
        if texts is None:
            raise TrainingFailed("The unlabelled texts are gone. Upload them, and train again.")
        return _unlabelled_prefix(model), texts

    def delete_unlabelled(self, model: Model) -> None:
        """Delete the texts without labels of a call that was refused."""
        self.delete(_unlabelled_key(model))

    def delete(self, key: str) -> None:
        """Delete the texts of a call that was refused."""
        self._artifacts.delete(key)

    def delete_until(self, model: Model) -> None:
        """Delete the texts of the model's current and earlier runs.

        This includes texts of calls that stopped before they queued a run.
        """
        prefix = _prefix(model)
        for key in self._artifacts.keys(prefix):
            if int(key.removeprefix(prefix).partition("-")[0]) <= model.run:
                self._artifacts.delete(key)


def _unlabelled_prefix(model: Model) -> str:
    """Return the key prefix of a run's texts without labels and of their vectors."""
    # Of two calls that request the same run, only one has claimed the upload.
    return f"{_prefix(model)}{model.run}-{model.request.unlabelled_upload}/"


def _unlabelled_key(model: Model) -> str:
    return f"{_unlabelled_prefix(model)}texts.json"


def _prefix(model: Model) -> str:
    return f"{model_prefix(model.model_id)}adjustments/"
