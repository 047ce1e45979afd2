"""Adds a misclassified text with its right label to the model's dataset. Spec: Concepts."""

from __future__ import annotations

from chalicelib.domain.account import Account
from chalicelib.domain.dataset import (
    FAMILY_TYPES,
    FEEDBACK,
    LANGUAGE,
    DatasetView,
)
from chalicelib.domain.example import ExampleView
from chalicelib.domain.growth import check_can_grow
from chalicelib.domain.model import Model
from chalicelib.domain.texts import checked_text
from chalicelib.errors import (
    BadRequest,
    InvalidParameter,
    LabelNotFound,
)
from chalicelib.stores.appends import AppendStore, NewText
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.labels import LabelStore


class FeedbackService:
    """Feedback goes to the dataset that the model was trained from."""

    def __init__(self, datasets: DatasetStore, labels: LabelStore, appends: AppendStore) -> None:
        self._datasets = datasets
        self._labels = labels
        self._appends = appends

    def add_text(
        self, account: Account, model: Model, document: str, expected_label: str
    ) -> ExampleView:
        """Add a text as feedback, or return the equal one that is there.

        Raises:
            BadRequest: the model is no text model, or its dataset was deleted.
            InvalidParameter: the text or label is not allowed.
            DatasetNotYetAvailable: an upload is going on.
            DatasetBeingDeleted: the dataset is being deleted.
            TooLarge: the dataset is full.
            StorageUnavailable: the outcome is not known.
        """
        if model.type not in FAMILY_TYPES[LANGUAGE]:
            raise InvalidParameter(
                "modelId", f"model {model.model_id} is of type {model.type}; use a text model."
            )
        text = checked_text(document)
        view = self._view(model)
        label = view.label_named(expected_label.strip())
        if label is None and model.type == "text-sentiment":
            label = view.label_named(expected_label.strip().lower())
        if label is None:
            names = ", ".join(label.name for label in view.labels[:20])
            raise InvalidParameter(
                "expectedLabel",
                f"{expected_label[:100]!r} is no label of dataset "
                f"{view.dataset.dataset_id}; it has: {names}.",
            )
        new = NewText(text, label.name, label.label_id, FEEDBACK)
        example, dataset = self._appends.append(view.dataset, new)
        grown = self._labels.view(dataset).label(example.label_id)
        if grown is None:
            raise LabelNotFound(example.label_id)
        return ExampleView(example, grown, example.name)

    def _view(self, model: Model) -> DatasetView:
        """Read the model's dataset in a state that takes feedback."""
        dataset = self._datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None:
            raise BadRequest(
                f"Dataset {model.dataset_id} of model {model.model_id} was deleted, so it takes "
                "no feedback. Train a model from another dataset.",
                code="dataset_deleted",
            )
        check_can_grow(dataset, has_new_label=False)
        return self._labels.view(dataset)
