"""Adds misclassified texts and images, with their correct labels, to the dataset of a model.

Spec: Main concepts 2; contract section 5, feedback.
"""

from __future__ import annotations

from dataclasses import replace

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.limits import MAX_IMAGE_BYTES
from chalicelib.domain.datasets.dataset import (
    DETECTION,
    FAMILY_TYPES,
    FEEDBACK,
    IMAGE,
    LANGUAGE,
    MULTI_LABEL,
    Dataset,
    DatasetView,
)
from chalicelib.domain.datasets.example import (
    ExampleView,
    NewExample,
    PictureFile,
    new_picture,
    new_text,
)
from chalicelib.domain.datasets.fields import checked_text
from chalicelib.domain.datasets.growth import check_can_grow
from chalicelib.domain.models.model import Model
from chalicelib.errors import (
    BadRequest,
    InvalidParameter,
)
from chalicelib.formats.pictures.content_type import content_type
from chalicelib.formats.pictures.png_exif import standardize_orientation
from chalicelib.formats.pictures.reading import check_picture
from chalicelib.stores.datasets.appends import AppendStore
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.example_views import ExampleViews
from chalicelib.stores.datasets.labels import LabelStore

# Types whose feedback is one image with one label; boxes come as archives.
PICTURE_TYPES = (IMAGE, MULTI_LABEL)


class FeedbackService:
    """Adds feedback to the dataset that a model was trained from.

    Additions raise DatasetNotYetAvailable while an upload is running, and DatasetBeingDeleted while
    the dataset is being deleted.
    """

    def __init__(
        self,
        datasets: DatasetStore,
        labels: LabelStore,
        appends: AppendStore,
        views: ExampleViews,
    ) -> None:
        self._datasets = datasets
        self._labels = labels
        self._appends = appends
        self._views = views

    def add_text(
        self, account: Account, model: Model, document: str, expected_label: str
    ) -> ExampleView:
        """Add the text `document` as feedback. If the label has an equal text, return its example.

        Raises:
            BadRequest: the model is not a text model, or its dataset was deleted.
            InvalidParameter: the text or label is not allowed.
            TooLarge: the dataset has the maximum number of examples or bytes.
        """
        model.require_dataset("given feedback")
        if model.type not in FAMILY_TYPES[LANGUAGE]:
            raise InvalidParameter(
                "modelId", f"model {model.model_id} is of type {model.type}; use a text model."
            )
        text = checked_text(document)
        view = self._view(model)
        label = view.label_named(expected_label.strip())
        # Labels of sentiment are stored in lower case, but accepted in any case.
        if label is None and model.type == "text-sentiment":
            label = view.label_named(expected_label.strip().lower())
        if label is None:
            raise _unknown_label(view, expected_label)
        new = new_text(text, view.dataset.language, FEEDBACK, label.name, label.label_id)
        return self._append(view.dataset, new)

    def add_picture(
        self, account: Account, model: Model, file: PictureFile, expected_label: str
    ) -> ExampleView:
        """Add an image as feedback. If the label already has an equal image, return its example.

        Raises:
            BadRequest: the image is damaged, or the dataset of the model was deleted.
            InvalidParameter: the model's type does not allow single images as feedback, or the
                label is unknown.
            TooLarge: the image is over 1 MB, or the dataset has the maximum size.
            UnsupportedType: the file is not a PNG or JPEG.
            ExampleNameTaken: the dataset already has an example with the name of the file.
            TooManyOpen: the account has used up its storage.
        """
        model.require_dataset("given feedback")
        _check_takes_pictures(model)
        file = replace(file, content=standardize_orientation(file.content))
        check_picture(file.content, MAX_IMAGE_BYTES)
        view = self._view(model)
        label = view.label_named(expected_label.strip())
        if label is None:
            raise _unknown_label(view, expected_label)
        kind = content_type(file.content)
        new = new_picture(file, kind, FEEDBACK, label.name, label.label_id)
        # By the contract, a dataset has at most one feedback image with a given name.
        return self._append(view.dataset, replace(new, needs_own_name=True))

    def _append(self, dataset: Dataset, new: NewExample) -> ExampleView:
        example, grown = self._appends.append(dataset, new)
        return self._views.show_one(grown, example)

    def _view(self, model: Model) -> DatasetView:
        """Return the dataset of a model; raise an error if feedback cannot be added to it."""
        dataset = self._datasets.find(model.account_id, model.family, model.dataset_id)
        if dataset is None:
            raise BadRequest(
                f"Dataset {model.dataset_id} of model {model.model_id} was deleted, so it takes "
                "no feedback. Train a model from another dataset.",
                code="dataset_deleted",
            )
        check_can_grow(dataset, has_new_label=False)
        return self._labels.view(dataset)


def _unknown_label(view: DatasetView, expected_label: str) -> InvalidParameter:
    names = ", ".join(label.name for label in view.labels[:20])
    return InvalidParameter(
        "expectedLabel",
        f"{expected_label[:100]!r} is not a label of dataset {view.dataset.dataset_id}; "
        f"it has: {names}.",
    )


def _check_takes_pictures(model: Model) -> None:
    if model.type in PICTURE_TYPES:
        return
    remedy = "use a model of type image or image-multi-label"
    if model.type == DETECTION:
        remedy = "send its images and boxes with PUT /v2/vision/bulkfeedback"
    raise InvalidParameter("modelId", f"model {model.model_id} is of type {model.type}; {remedy}.")
