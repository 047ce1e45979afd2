"""Data with which another process can resume a training run: its start and its last state.

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
    """The committed examples when a run started, which are the only ones that it uses."""

    begun_at: datetime
    """Start of the run."""
    counts: dict[int, tuple[LabelCounts, ...]]
    """Committed counts by dataset id."""
    corrections: dict[int, int] = field(default_factory=dict)
    """Last correction by dataset id; empty for runs that an earlier version began."""

    def of(self, dataset: Dataset) -> Dataset:
        """Return the dataset as it was at the start of the run."""
        return replace(dataset, counts=self.counts.get(dataset.dataset_id, dataset.counts))

    def of_unguarded(self, dataset: Dataset) -> Dataset:
        """Return a dataset that the run does not guard as it was at the start, if it still can be.

        Chunks that a correction has replaced are deleted, so a corrected dataset is returned as it
        is now.
        """
        same = self.corrections.get(dataset.dataset_id) == dataset.last_correction
        return self.of(dataset) if same else dataset


class CheckpointStore:
    """Reads and writes the start and the checkpoint of runs."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts

    def beginning(self, model: Model) -> RunStart | None:
        """Read the start of a run; None when it has not started."""
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
        """Save the start of a run."""
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
        """Read the last checkpoint; None when there is none."""
        return self._artifacts.get(_key(model, "npz"))

    def put(self, model: Model, state: bytes) -> None:
        """Save a checkpoint, which replaces the previous one."""
        self._artifacts.put(_key(model, "npz"), state)

    def delete(self, model: Model) -> None:
        """Delete the start and the checkpoint of a run."""
        self._artifacts.delete(_key(model, "npz"))
        self._artifacts.delete(_key(model, "json"))


def _key(model: Model, suffix: str) -> str:
    return f"{model_prefix(model.model_id)}checkpoints/{model.run}.{suffix}"
