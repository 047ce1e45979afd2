"""Sizes of the artifacts of an account's model versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chalicelib.domain.models.model_version import (
    KeptVersions,
    ModelVersion,
    SpareVersion,
    dump_versions,
)
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.serving import row_versions, unchanged_versions
from chalicelib.stores.models.versions import ModelVersions


@translate_errors
class VersionSizes:
    """Sums the sizes of artifacts, and measures artifacts whose size is not stored yet."""

    def __init__(self, clients: Clients, files: ModelVersions) -> None:
        clients.bind_tables()
        self._files = files

    def of_account(self, account_id: str) -> int:
        """Return the size of all artifacts of an account in bytes."""
        return sum(self._measured(row).bytes for row in _rows(account_id))

    def oldest_unserved(self, account_id: str) -> SpareVersion | None:
        """Return the oldest version of an account that is not served; None if each is served."""
        spare = [
            (one.created_at, row.model_id, one)
            for row in _rows(account_id)
            if not row.deleted
            for one in row_versions(row).items
            if one.folder != row.version
        ]
        if not spare:
            return None
        _, model_id, version = min(spare, key=lambda found: found[:2])
        return SpareVersion(model_id, version.number, version.bytes or 0)

    def _measured(self, row: ModelRow) -> KeptVersions:
        """Return the versions in a row with their sizes; measure and store missing sizes."""
        versions = row_versions(row)
        if all(one.bytes is not None for one in versions.items):
            return versions
        kept = tuple(self._with_size(row.model_id, one) for one in versions.items)
        measured = replace(versions, items=kept)
        # Stored, so that the next recount need not ask the bucket. If a training ended meanwhile,
        # the next recount measures again.
        actions = [ModelRow.versions.set(dump_versions(measured))]
        try_update(ModelRow(row.account_id, row.model_id), actions, unchanged_versions(row))
        return measured

    def _with_size(self, model_id: str, version: ModelVersion) -> ModelVersion:
        if version.bytes is not None:
            return version
        return replace(version, bytes=self._files.size(model_id, version.folder))


def _rows(account_id: str) -> Iterator[ModelRow]:
    """Yield the rows of all models, even of models being deleted, because their files exist."""
    yield from ModelRow.query(account_id, consistent_read=True)
