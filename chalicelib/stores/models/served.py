"""Finds the models that predictions use, trained or prebuilt, and reads their artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chalicelib.domain.common.ids import STRING_ID
from chalicelib.domain.models.model import PREBUILT, ServedModel
from chalicelib.domain.models.model_version import version_not_found
from chalicelib.errors import Conflict, ModelNotFound, PrebuiltNotInstalled, StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.prebuilt import PrebuiltStore
from chalicelib.stores.models.serving import row_versions
from chalicelib.stores.models.versions import ModelVersions

# Version of the prebuilt models, which are files and have no versions.
PREBUILT_VERSION = "prebuilt"

# The attributes of a model's row that a prediction reads; the others can be large.
SERVED_MEMBERS = ("model_id", "type", "status", "version", "deleted")
VERSION_MEMBERS = (*SERVED_MEMBERS, "versions", "stats", "updated_at")


@translate_errors
class ServedModels:
    """Finds models for predictions."""

    def __init__(self, clients: Clients, files: ModelVersions, prebuilt: PrebuiltStore) -> None:
        clients.bind_tables()
        self._files = files
        self._prebuilt = prebuilt

    def find(self, account_id: str, model_id: str) -> ServedModel:
        """Return a model of an account, or a prebuilt model.

        Raises:
            ModelNotFound: there is no such model.
            PrebuiltNotInstalled: the files of the prebuilt model are missing.
        """
        if model_id in PREBUILT:
            if not self._prebuilt.is_installed(model_id):
                raise PrebuiltNotInstalled(model_id)
            return ServedModel(model_id, PREBUILT[model_id], "SUCCEEDED", PREBUILT_VERSION)
        row = _find(account_id, model_id) if STRING_ID.fullmatch(model_id) else None
        model = load_served(row)
        if model is None:
            raise ModelNotFound(model_id[:100])
        return model

    def find_version(self, account_id: str, model_id: str, number: int) -> ServedModel:
        """Return a model with the stored version `number`.

        Raises:
            ModelNotFound: the model does not exist or belongs to another account.
            NotFound: the version is not stored; the message names the stored versions.
        """
        if model_id in PREBUILT:
            if number != 1:
                raise version_not_found(number, [1])
            return self.find(account_id, model_id)
        row = None
        if STRING_ID.fullmatch(model_id):
            row = _find(account_id, model_id, VERSION_MEMBERS)
        model = load_served(row)
        if model is None or row is None:
            raise ModelNotFound(model_id[:100])
        kept = row_versions(row)
        version = kept.find(number)
        if version is None:
            raise version_not_found(number, [one.number for one in kept.items])
        return replace(model, version=version.folder)

    def check_kept(self, account_id: str, model_id: str, version: str) -> None:
        """Check that a version is still listed, after a batch or export that uses it was stored.

        Args:
            account_id: id of the model's account.
            model_id: id of the model.
            version: folder of the version. Nothing is checked if it is empty or PREBUILT_VERSION.

        Raises:
            ModelNotFound: the model was deleted meanwhile.
            Conflict: the version was removed meanwhile.
        """
        if version in ("", PREBUILT_VERSION):
            return
        row = _find(account_id, model_id, VERSION_MEMBERS)
        if row is None or load_served(row) is None:
            raise ModelNotFound(model_id)
        if not any(one.folder == version for one in row_versions(row).items):
            raise Conflict(
                f"The version of model {model_id} was removed during this call. Send it again."
            )

    def artifact(self, model: ServedModel) -> bytes:
        """Return the artifact of the model's version."""
        if model.version == PREBUILT_VERSION:
            return self._prebuilt.artifact(model.model_id)
        content = self._files.artifact(model.model_id, model.version)
        if content is None:
            # The model was deleted after its row was read.
            raise StorageUnavailable
        return content


def load_served(row: ModelRow | None) -> ServedModel | None:
    """Return the model in a row; None if the model was deleted.

    The row needs only the attributes SERVED_MEMBERS.
    """
    if row is None or row.deleted:
        return None
    return ServedModel(row.model_id, row.type, row.status, row.version or "")


def _find(
    account_id: str, model_id: str, members: Sequence[str] = SERVED_MEMBERS
) -> ModelRow | None:
    try:
        return ModelRow.get(
            account_id, model_id, consistent_read=True, attributes_to_get=list(members)
        )
    except ModelRow.DoesNotExist:
        return None
