"""Reads the examples that a training uses, as they are committed when it begins."""

from __future__ import annotations

from chalicelib.domain.account import GLOBAL_ACCOUNT_ID
from chalicelib.domain.dataset import FEEDBACK, UPLOAD, Dataset
from chalicelib.domain.model import Model
from chalicelib.domain.training import used_sources
from chalicelib.domain.training_texts import TrainingTexts
from chalicelib.errors import TrainingFailed
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.examples import ExampleStore
from chalicelib.stores.labels import LabelStore


class TrainingExamples:
    """Collects texts and labels."""

    def __init__(self, datasets: DatasetStore, labels: LabelStore, examples: ExampleStore) -> None:
        self._datasets = datasets
        self._labels = labels
        self._examples = examples

    def read(self, model: Model, dataset: Dataset) -> TrainingTexts:
        """Read what the model's request names.

        Raises:
            TrainingFailed: the global dataset is not there any more.
            StorageUnavailable: the storage did not answer.
        """
        collected = TrainingTexts()
        sources = used_sources(with_feedback=model.request.with_feedback)
        self._collect(collected, dataset, sources)
        global_id = model.request.param("withGlobalDatasetId")
        if global_id is not None:
            found = self._datasets.find(GLOBAL_ACCOUNT_ID, model.family, int(str(global_id)))
            if found is None:
                raise TrainingFailed(
                    f"The global dataset {global_id} is not there any more. Train without it."
                )
            self._collect(collected, found, (UPLOAD,))
        return collected

    def _collect(
        self, collected: TrainingTexts, dataset: Dataset, sources: tuple[str, ...]
    ) -> None:
        """Add the committed texts of a dataset."""
        view = self._labels.view(dataset)
        places = {}
        for label in view.labels:
            if label.name not in collected.labels:
                collected.labels.append(label.name)
            places[label.label_id] = collected.labels.index(label.name)
        before = len(collected.texts)
        for source in sources:
            for example in self._examples.read_all(dataset.dataset_id, source, dataset.counts):
                collected.texts.append(example.name)
                collected.label_indexes.append(places[example.label_id])
                collected.feedback += source == FEEDBACK
        collected.spans.append((dataset.dataset_id, len(collected.texts) - before))
