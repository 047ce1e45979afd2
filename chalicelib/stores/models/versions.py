"""Files of model versions in the bucket, one folder per version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.domain.models.evaluation import Evaluation, read_evaluation
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import SuspectExample, read_suspects
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix
from chalicelib.stores.models.models import ModelStore

ARTIFACT = "artifact.npz"
METRICS = "metrics.json"
CARD = "card.json"
SUSPECTS = "suspects.json"
EVALUATION = "evaluation.json"


class ModelVersions:
    """Reads and writes the files of versions. Only `ModelCards` changes them later."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def put_version(
        self, model: Model, version: str, artifact: bytes, documents: dict[str, Any]
    ) -> None:
        """Write all files of a version."""
        folder = _folder(model.model_id, version)
        for name, document in documents.items():
            self._artifacts.put_json(f"{folder}{name}", document)
        # The artifact last, so that a version with an artifact has all its documents.
        self._artifacts.put(f"{folder}{ARTIFACT}", artifact)

    def artifact(self, model_id: str, version: str) -> bytes | None:
        """Return the artifact of a version; None if it does not exist."""
        return self._artifacts.get(f"{_folder(model_id, version)}{ARTIFACT}")

    def size(self, model_id: str, version: str) -> int:
        """Return the size of a version's artifact in bytes; 0 if it does not exist."""
        return self._artifacts.size(f"{_folder(model_id, version)}{ARTIFACT}")

    def document(self, model_id: str, version: str, name: str) -> Any:
        """Return a document of a version (METRICS, CARD, SUSPECTS or EVALUATION), or None."""
        return self._artifacts.get_json(f"{_folder(model_id, version)}{name}")

    def suspects(self, model: Model) -> tuple[SuspectExample, ...] | None:
        """Return the suspects (probably mislabelled examples) of the served version, or None."""
        found = model.version and self.document(model.model_id, model.version, SUSPECTS)
        return read_suspects(found) if found else None

    def evaluation(self, model: Model) -> Evaluation | None:
        """Return the evaluation of the served version; None if it was not stored."""
        found = model.version and self.document(model.model_id, model.version, EVALUATION)
        return read_evaluation(found) if found else None

    def delete_version(self, model: Model, version: str) -> None:
        """Delete the files of a version."""
        self._artifacts.delete_prefix(_folder(model.model_id, version))

    def delete(self, model_id: str) -> None:
        """Delete all files of a model."""
        self._artifacts.delete_prefix(model_prefix(model_id))


def _folder(model_id: str, version: str) -> str:
    return f"{model_prefix(model_id)}{version}/"


_CURVES = "/curves/"
_NAMING_EXAMPLES = (f"/{CARD}", f"/{SUSPECTS}", f"/{EVALUATION}")


class ModelCards:
    """Changes models' cards, evaluations, learning curves and lists of mislabelled examples."""

    def __init__(self, artifacts: ArtifactStore, models: ModelStore) -> None:
        self._artifacts = artifacts
        self._models = models

    def change_all(self, account_id: str, dataset_id: int, change: Callable[[Any], Any]) -> bool:
        """Apply a change to all documents of all models of a dataset.

        `change` converts one document. A block of a learning curve is an array. Any other document
        is an object with the member `object`, which names the kind: card, suspects or evaluation.

        Returns:
            False if a new version may lack the change, because its model was being adjusted, queued
                again or created during the call.
        """
        is_complete = True
        for model in self._models.of_dataset(account_id, dataset_id):
            before = self._models.find(account_id, model.model_id)
            is_changed = self._change(model.model_id, change)
            after = self._models.find(account_id, model.model_id)
            if after is None:
                if is_changed:
                    # The model was deleted meanwhile. Its deletion may have ended before this
                    # change wrote the files.
                    self._artifacts.delete_prefix(model_prefix(model.model_id))
            elif before is None or before.is_adjusting or before.run != after.run:
                is_complete = False
        return is_complete

    def _change(self, model_id: str, change: Callable[[Any], Any]) -> bool:
        is_changed = False
        for key in self._artifacts.keys(model_prefix(model_id)):
            if not key.endswith(_NAMING_EXAMPLES) and _CURVES not in key:
                continue
            document = self._artifacts.get_json(key)
            changed = change(document) if document else document
            if changed != document:
                self._artifacts.put_json(key, changed)
                is_changed = True
        return is_changed
