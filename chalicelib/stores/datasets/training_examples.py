"""Reads the examples that a training uses, which were committed before the training began."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID
from chalicelib.domain.common.limits import MAX_UNLABELLED
from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD, Dataset
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.training import used_sources
from chalicelib.domain.models.training_pictures import PictureGroups, TrainingPictures
from chalicelib.domain.models.training_texts import TrainingTexts
from chalicelib.errors import TrainingFailed
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.examples.examples import ExampleStore


class TrainingExamples:
    """Reads the examples and labels of trainings."""

    def __init__(self, datasets: DatasetStore, labels: LabelStore, examples: ExampleStore) -> None:
        self._datasets = datasets
        self._labels = labels
        self._examples = examples

    def datasets(self, model: Model, dataset: Dataset) -> list[Dataset]:
        """Return the datasets of a training: `dataset`, and the requested global dataset, if any.

        Raises:
            TrainingFailed: the global dataset was deleted.
        """
        global_id = model.request.param("withGlobalDatasetId")
        if global_id is None:
            return [dataset]
        global_dataset = self._datasets.find(GLOBAL_ACCOUNT_ID, model.family, int(str(global_id)))
        if global_dataset is None:
            raise TrainingFailed(
                f"The global dataset {global_id} is not there any more. Train without it."
            )
        return [dataset, global_dataset]

    def read(self, model: Model, datasets: Sequence[Dataset]) -> TrainingTexts:
        """Read the labelled texts that a model is trained on.

        `datasets` is the result of the method `datasets`. Examples that were added later are not
        used.
        """
        collected = TrainingTexts(label_ids=self._label_ids(datasets[0]))
        for used in datasets:
            before = len(collected.texts)
            for source, place, example in self._labelled(model, used, collected.labels):
                if source == FEEDBACK:
                    collected.feedback_places.append(len(collected.texts))
                collected.texts.append(example.name)
                collected.label_indexes.append(place)
                collected.example_ids.append(example.example_id)
            collected.spans.append((used.dataset_id, len(collected.texts) - before))
            collected.descriptions |= self._descriptions(used)
        return collected

    def unlabelled_dataset(self, model: Model) -> Dataset | None:
        """Return the dataset that the parameter `unlabelled` names; None if no dataset is named.

        Raises:
            TrainingFailed: the dataset was deleted.
        """
        asked = model.request.param("unlabelled")
        if asked is None or model.request.unlabelled_upload:
            return None
        found = self._datasets.find(model.account_id, model.family, int(str(asked)))
        if found is None or not found.available:
            raise TrainingFailed(
                f"The dataset {asked} of unlabelled texts was deleted. Train without it."
            )
        return found

    def unlabelled(self, dataset: Dataset) -> list[str]:
        """Return distinct uploaded texts of a dataset, at most MAX_UNLABELLED texts.

        `dataset` is the result of `unlabelled_dataset`. Texts that were uploaded later are not
        used.
        """
        examples = self._examples.read_all(dataset.dataset_id, UPLOAD, dataset.counts)
        return list(dict.fromkeys(example.name for example in examples))[:MAX_UNLABELLED]

    def pictures(self, model: Model, datasets: Sequence[Dataset]) -> TrainingPictures:
        """Read the labelled images that a model is trained on.

        `datasets` is the result of the method `datasets`. Examples that were added later are not
        used.
        """
        labels: list[str] = []
        groups = PictureGroups(model.type)
        for used in datasets:
            for source, place, example in self._labelled(model, used, labels):
                groups.add(used.dataset_id, example, place, is_feedback=source == FEEDBACK)
        return replace(groups.training(labels), label_ids=self._label_ids(datasets[0]))

    def _descriptions(self, dataset: Dataset) -> dict[str, str]:
        labels = self._labels.view(dataset).labels
        found = self._labels.descriptions([label.label_id for label in labels])
        return {one.name: found[one.label_id] for one in labels if one.label_id in found}

    def _label_ids(self, dataset: Dataset) -> list[int]:
        return [label.label_id for label in self._labels.view(dataset).labels]

    def _labelled(
        self, model: Model, dataset: Dataset, labels: list[str]
    ) -> Iterator[tuple[str, int, Example]]:
        """Yield (source, label index, example) for each example of a dataset.

        If `labels` lacks the name of a label, the name is appended to `labels`.
        """
        places = {}
        for label in self._labels.view(dataset).labels:
            if label.name not in labels:
                labels.append(label.name)
            places[label.label_id] = labels.index(label.name)
        is_global = dataset.account_id == GLOBAL_ACCOUNT_ID
        sources = used_sources(with_feedback=model.request.with_feedback)
        for source in (UPLOAD,) if is_global else sources:
            for example in self._examples.read_all(dataset.dataset_id, source, dataset.counts):
                yield source, places[example.label_id], example
