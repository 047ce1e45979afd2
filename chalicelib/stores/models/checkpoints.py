"""Stores the data that a process needs to resume a training run: a `RunStart` and a checkpoint.

Both are deleted when the run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from chalicelib.domain.common.clock import from_milliseconds, to_milliseconds
from chalicelib.domain.datasets.dataset import Dataset, LabelCounts
from chalicelib.domain.models.model import Model
from chalicelib.stores.aws.objects import ArtifactStore, model_prefix


@dataclass(frozen=True)
class RunStart:
    """The state of the datasets when a run began. The run uses only examples that existed then."""

    begun_at: datetime
    """When the run began."""
    counts: dict[int, tuple[LabelCounts, ...]]
    """Label counts by dataset id."""
    corrections: dict[int, int] = field(default_factory=dict)
    """Fence token of the last correction, by dataset id; empty for runs of old service versions."""

    def of(self, dataset: Dataset) -> Dataset:
        """Return the dataset with the counts that it had when the run began."""
        return replace(dataset, counts=self.counts.get(dataset.dataset_id, dataset.counts))

    def of_unguarded(self, dataset: Dataset) -> Dataset:
        """Return the dataset as it was when the run began, unless it was corrected since then.

        A dataset that was corrected is returned without change. Used for a dataset without a guard
        entry. Without such an entry, chunks that were replaced by a correction may have been
        deleted.
        """
        same = self.corrections.get(dataset.dataset_id) == dataset.last_correction
        return self.of(dataset) if same else dataset


class CheckpointStore:
    """Reads and writes the `RunStart` and the checkpoint of each run."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def beginning(self, model: Model) -> RunStart | None:
        """Return the data with which a run began; None if the run has not begun."""
        document = self._artifacts.get_json(_key(model, "json"))
        if document is None:
            return None
        counts = {
            int(dataset_id): tuple(LabelCounts(*row) for row in rows)
            for dataset_id, rows in document["counts"].items()
        }
        corrections = {int(key): fence for key, fence in document.get("corrections", {}).items()}
        return RunStart(from_milliseconds(document["begun_at"]), counts, corrections)

    def begin(self, model: Model, datasets: Sequence[Dataset], now: datetime) -> RunStart:
        """Store the data with which a run begins, and return it."""
        counts = {
            str(dataset.dataset_id): [c.packed for c in dataset.counts] for dataset in datasets
        }
        corrections = {dataset.dataset_id: dataset.last_correction for dataset in datasets}
        content = {"begun_at": to_milliseconds(now), "counts": counts, "corrections": corrections}
        self._artifacts.put_json(_key(model, "json"), content)
        return RunStart(
            now, {dataset.dataset_id: dataset.counts for dataset in datasets}, corrections
        )

    def get(self, model: Model) -> bytes | None:
        """Return the latest checkpoint of a run; None if there is none."""
        return self._artifacts.get(_key(model, "npz"))

    def put(self, model: Model, state: bytes) -> None:
        """Store a checkpoint in place of the previous one."""
        self._artifacts.put(_key(model, "npz"), state)

    def delete(self, model: Model) -> None:
        """Delete the `RunStart` and the checkpoint of a run."""
        self._artifacts.delete(_key(model, "npz"))
        self._artifacts.delete(_key(model, "json"))


def _key(model: Model, suffix: str) -> str:
    return f"{model_prefix(model.model_id)}checkpoints/{model.run}.{suffix}"
