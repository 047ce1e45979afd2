"""Models that predict: an account's own and the prebuilt ones, and their artifacts."""

from __future__ import annotations

from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.models.model import PREBUILT, ServedModel
from chalicelib.errors import ModelNotFound, PrebuiltNotInstalled, StorageUnavailable
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.prebuilt import PrebuiltStore
from chalicelib.stores.models.versions import ModelVersions

PREBUILT_VERSION = "prebuilt"
"""Stands in place of an artifact version for models that ship as files."""


class ServedModels:
    """Finds models by the id that a prediction names."""

    def __init__(self, models: ModelStore, files: ModelVersions, prebuilt: PrebuiltStore) -> None:
        self._models = models
        self._files = files
        self._prebuilt = prebuilt

    def find(self, account_id: str, model_id: str) -> ServedModel:
        """Find a model of the account, or a prebuilt one.

        Raises:
            ModelNotFound: there is none.
            PrebuiltNotInstalled: its files are missing.
        """
        if model_id in PREBUILT:
            if not self._prebuilt.is_installed(model_id):
                raise PrebuiltNotInstalled(model_id)
            return ServedModel(model_id, PREBUILT[model_id], "SUCCEEDED", PREBUILT_VERSION)
        is_id = STRING_ID.fullmatch(model_id) is not None
        model = self._models.find_served(account_id, model_id) if is_id else None
        if model is None:
            raise ModelNotFound(model_id[:100])
        return model

    def artifact(self, model: ServedModel) -> bytes:
        """Read the artifact of the model's version."""
        if model.version == PREBUILT_VERSION:
            return self._prebuilt.artifact(model.model_id)
        content = self._files.artifact(model.model_id, model.version)
        if content is None:
            # The row names a version whose file is gone: the model was deleted a moment ago.
            raise StorageUnavailable
        return content
