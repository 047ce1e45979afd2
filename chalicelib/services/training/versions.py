"""Lists, serves, removes and compares versions of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib import log
from chalicelib.domain.models.comparison import Comparison, compare, why_not_compared
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.model_version import ModelVersion, version_not_found
from chalicelib.errors import Conflict, StorageUnavailable
from chalicelib.stores.jobs.capacity import CapacityStore
from chalicelib.stores.models.models import ModelStore
from chalicelib.stores.models.serving import VersionServing, VersionUse
from chalicelib.stores.models.versions import CARD, ModelVersions


@dataclass(frozen=True)
class VersionView:
    """A version of a model, with its metrics and whether it is served."""

    version: ModelVersion
    is_served: bool
    metrics: dict[str, Any]
    """Metrics in the version's card, with confidence intervals."""


class VersionService:
    """Reads and changes the versions of an account's models.

    Methods raise NotFound if a version is not stored.
    """

    def __init__(
        self,
        models: ModelStore,
        serving: VersionServing,
        files: ModelVersions,
        use: VersionUse,
        capacity: CapacityStore,
    ) -> None:
        self._models = models
        self._serving = serving
        self._files = files
        self._use = use
        self._capacity = capacity

    def list(self, model: Model) -> Sequence[VersionView]:
        """List the stored versions of a model, newest first."""
        return [self._view(model, one) for one in reversed(model.versions.items)]

    def get(self, model: Model, number: int) -> VersionView:
        """Return a version of a model; raise NotFound if the version is not stored."""
        return self._view(model, _find(model, number))

    def serve(self, model: Model, number: int) -> VersionView:
        """Serve a version from the next call on.

        Raises:
            Conflict: another call changed the versions at the same time.
        """
        version = _find(model, number)
        if not self._serving.serve(model, version):
            raise _changed(model)
        return self._view(replace(model, version=version.folder), version)

    def remove(self, model: Model, number: int) -> VersionView:
        """Remove a version and its files.

        Raises:
            Conflict: the version is served, or a batch or export uses it.
        """
        view = self._view(model, _find(model, number))
        if view.is_served:
            raise Conflict(f"Version {number} is served. Serve another version, then delete it.")
        if what := self._use.find(model).get(view.version.folder):
            raise _used(what, number)
        counted = self._capacity.read_version(model.account_id)
        if not self._serving.remove(model, view.version):
            raise _changed(model)
        try:
            if not self._use.put_back(model, [view.version]):
                raise _used("A batch or export", number)
            self._capacity.settle(model.account_id, counted, -(view.version.bytes or 0))
            self._files.delete_version(model, view.version.folder)
        except StorageUnavailable:
            # The version is off the list. Its files stay until the model is deleted.
            log.warning("version_not_deleted", model=model.model_id)
        return view

    def compare(self, model: Model, first: int, second: int) -> Comparison:
        """Compare two versions by their predictions for the same held-out examples.

        Raises:
            Conflict: the versions have fewer than 20 held-out examples in common, or a version has
                no evaluation. Models that detect objects have no evaluation.
        """
        model.require_dataset("compared")
        # The newer version knows the current labels, whatever the order of the call.
        older, newer = (
            self._files.evaluation(self.at(model, number)) for number in sorted((first, second))
        )
        found = compare(older, newer)
        if found is None:
            reason = why_not_compared(older, newer)
            raise Conflict(f"Versions {first} and {second} cannot be compared, because {reason}.")
        return found if first < second else found.swapped()

    def at(self, model: Model, number: int | None) -> Model:
        """Return the model with version `number` as its served version; None changes nothing.

        Raises:
            NotFound: the version is not stored.
        """
        if number is None:
            return model
        version = _find(model, number)
        # The learning curve belongs to the version's run, so the copy also gets this run.
        return replace(model, version=version.folder, run=version.run)

    def _view(self, model: Model, version: ModelVersion) -> VersionView:
        card = self._files.document(model.model_id, version.folder, CARD) or {}
        return VersionView(version, model.version == version.folder, card.get("metrics", {}))


def _find(model: Model, number: int) -> ModelVersion:
    version = model.versions.find(number)
    if version is None:
        raise version_not_found(number, [one.number for one in model.versions.items])
    return version


def _used(user: str, number: int) -> Conflict:
    return Conflict(f"{user} uses version {number}. Delete it when that has ended.")


def _changed(model: Model) -> Conflict:
    return Conflict(
        f"The versions of model {model.model_id} were changed by another call. List them again."
    )
