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

    def put_unlabelled(self, model: Model, run: int, upload_id: str, texts: Sequence[str]) -> None:
        """Store texts without labels for a run of a model.

        Args:
            model: the model.
            run: number of the run.
            upload_id: the upload that the texts came in, which only this run may use.
            texts: the texts.
        """
        self._artifacts.put_json(_unlabelled_key(model, run, upload_id), list(texts))

    def unlabelled(self, model: Model) -> tuple[str, list[str]]:
        """Return the prefix of the vectors, and the current run's texts without labels.

        Raises:
            TrainingFailed: the texts are deleted.
        """
        upload_id = model.request.unlabelled_upload or ""
        texts = self._artifacts.get_json(_unlabelled_key(model, model.run, upload_id))
        if texts is None:
            raise TrainingFailed("The unlabelled texts are gone. Upload them, and train again.")
        return _unlabelled_prefix(model, model.run, upload_id), texts

    def delete_unlabelled(self, model: Model, run: int, upload_id: str) -> None:
        """Delete the texts without labels of a call that was refused."""
        self.delete(_unlabelled_key(model, run, upload_id))

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


def _unlabelled_prefix(model: Model, run: int, upload_id: str) -> str:
    """Return the prefix of a run's texts without labels and of their vectors."""
    return f"{_prefix(model)}{run}-{upload_id}/"


def _unlabelled_key(model: Model, run: int, upload_id: str) -> str:
    return f"{_unlabelled_prefix(model, run, upload_id)}texts.json"


def _prefix(model: Model) -> str:
    return f"{model_prefix(model.model_id)}adjustments/"
