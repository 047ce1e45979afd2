"""Changes which version of a model is served, and removes versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.common.clock import from_milliseconds
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.model_version import (
    KeptVersions,
    ModelVersion,
    dump_versions,
    first_version,
    load_versions,
)
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors, try_update
from chalicelib.stores.aws.rows import refresh
from chalicelib.stores.aws.tables import ModelRow


def row_versions(row: ModelRow) -> KeptVersions:
    """Return the versions in a model's row; only the served version if the row has no list."""
    if row.versions is not None:
        return load_versions(row.versions)
    examples = (row.stats or {}).get("examples", 0)
    return first_version(row.version or "", from_milliseconds(row.updated_at), examples)


def unchanged_versions(row: ModelRow) -> Condition:
    """Return the condition that the versions have not changed since the row was read."""
    same = (
        ModelRow.versions.does_not_exist()
        if row.versions is None
        else ModelRow.versions == row.versions
    )
    # Without this, an update would create the row of a model that was deleted meanwhile.
    condition: Condition = same & (ModelRow.deleted == bool(row.deleted))
    return condition


@translate_errors
class VersionServing:
    """Serves and removes versions by single conditional writes."""

    def __init__(self, clients: Clients) -> None:
        clients.bind_tables()

    def serve(self, model: Model, version: ModelVersion) -> bool:
        """Serve a version in later predictions; return False if it is not stored any more."""
        row = _read(model)
        if row is None or row_versions(row).find(version.number) is None:
            return False
        return try_update(row, [ModelRow.version.set(version.folder)], unchanged_versions(row))

    def remove(self, model: Model, version: ModelVersion) -> bool:
        """Remove a version from the list; return False if it is served or not stored any more."""
        row = _read(model)
        before = KeptVersions() if row is None else row_versions(row)
        if row is None or before.find(version.number) is None:
            return False
        after = dump_versions(before.without(version.number))
        actions: list[Action] = [ModelRow.versions.set(after)]
        unserved = ModelRow.version != version.folder
        return try_update(row, actions, unchanged_versions(row) & unserved)

    def put_back(self, model: Model, version: ModelVersion) -> None:
        """Add a removed version to the list again, unless the model was deleted meanwhile."""
        while row := _read(model):
            before = row_versions(row)
            if before.find(version.number) is not None:
                return
            after = dump_versions(before.with_again(version))
            if try_update(row, [ModelRow.versions.set(after)], unchanged_versions(row)):
                return


class VersionUsers(Protocol):
    """A store of batches or exports. Unfinished batches and exports use model versions."""

    def used_versions(self, account_id: str, model_id: str) -> frozenset[str]:
        """Return the folders of the versions of a model that are in use."""


class VersionUse:
    """Finds the versions that unfinished batches and exports use, so that their files are kept.

    A version may be removed while a new batch or export begins to use it. So both calls first write
    and then check. The call that creates the batch or export stores a row, and fails if the model's
    list lacks the version. The call that removes the version changes the list. Then `put_back`
    restores the version if the row of a batch or export names it.
    """

    def __init__(
        self, serving: VersionServing, batches: VersionUsers, exports: VersionUsers
    ) -> None:
        self._serving = serving
        self._users = {"A batch": batches, "An export": exports}

    def find(self, model: Model) -> dict[str, str]:
        """Return, by version folder, what uses the version: `A batch` or `An export`."""
        return {
            folder: what
            for what, store in self._users.items()
            for folder in store.used_versions(model.account_id, model.model_id)
        }

    def put_back(self, model: Model, removed: Sequence[ModelVersion]) -> list[ModelVersion]:
        """Restore removed versions that batches or exports use; return the unused versions."""
        unused, used = [], self.find(model) if removed else {}
        for version in removed:
            if version.folder in used:
                self._serving.put_back(model, version)
            else:
                unused.append(version)
        return unused


def _read(model: Model) -> ModelRow | None:
    row = ModelRow(model.account_id, model.model_id)
    return row if refresh(row) and not row.deleted else None
