"""Labelled images in the form that a training needs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from chalicelib.domain.datasets.dataset import DETECTION, MULTI_LABEL
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.documents.picture import Box


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A box around an object, with the index of its label."""

    label: int
    box: Box
    example_id: int


@dataclass(frozen=True, slots=True)
class LabelledPicture:
    """One image with all of its labels or boxes.

    For type `image`, this is one example. For `image-multi-label`, it combines all examples of an
    image file. For `image-detection`, it combines all boxes with the same image file and file name.
    """

    dataset_id: int
    digest: bytes
    """Digest of the image file, 16 bytes. Equal images are in the same part of any split."""
    name: str
    labels: tuple[int, ...] = ()
    """Indexes of the image's labels in `TrainingPictures.labels`; empty for detection."""
    example_ids: tuple[int, ...] = ()
    """For each of the image's `labels`, the id of the example with it; empty for detection."""
    boxes: tuple[LabelledBox, ...] = ()
    is_feedback: bool = False


@dataclass
class TrainingPictures:
    """Labelled images of one or two datasets, sorted by dataset, label and id."""

    labels: list[str] = field(default_factory=list)
    """Label names of the trained dataset, then those of a global dataset."""
    pictures: list[LabelledPicture] = field(default_factory=list)
    examples: int = 0
    feedback: int = 0
    label_ids: list[int] = field(default_factory=list)
    """Ids of the labels in `labels`, in the same order; labels of a global dataset have no id."""

    def keep(self, places: Sequence[int]) -> TrainingPictures:
        """Return a copy with only the images at the indexes `places`; the labels do not change."""
        kept = [self.pictures[place] for place in places]
        return TrainingPictures(
            self.labels,
            kept,
            sum(map(_examples, kept)),
            sum(_examples(picture) for picture in kept if picture.is_feedback),
            self.label_ids,
        )


class PictureGroups:
    """Combines the examples that belong to the same image of a dataset, for one or two datasets."""

    def __init__(self, dataset_type: str) -> None:
        self._type = dataset_type
        self._groups: dict[tuple[int, Hashable], list[tuple[int, Example, bool]]] = {}

    def add(self, dataset_id: int, example: Example, label: int, *, is_feedback: bool) -> None:
        """Add an example; `label` is the index of its label."""
        key: Hashable = example.example_id
        if self._type == MULTI_LABEL:
            key = example.picture
        elif self._type == DETECTION:
            key = example.picture, example.name
        self._groups.setdefault((dataset_id, key), []).append((label, example, is_feedback))

    def training(self, labels: list[str]) -> TrainingPictures:
        """Return the combined images, in the order in which their first examples were added."""
        made = TrainingPictures(labels)
        for (dataset_id, _), members in self._groups.items():
            made.pictures.append(self._picture(dataset_id, members))
            made.examples += len(members)
            made.feedback += sum(is_feedback for _, _, is_feedback in members)
        return made

    def _picture(
        self, dataset_id: int, members: Sequence[tuple[int, Example, bool]]
    ) -> LabelledPicture:
        first = members[0][1]
        boxes = [LabelledBox(place, e.box, e.example_id) for place, e, _ in members if e.box]
        # The same label may have been uploaded and given as feedback.
        ids: dict[int, int] = {}
        for place, example, _ in members:
            ids.setdefault(place, example.example_id)
        return LabelledPicture(
            dataset_id,
            bytes.fromhex(first.picture),
            first.name,
            () if boxes else tuple(ids),
            () if boxes else tuple(ids.values()),
            tuple(boxes),
            all(is_feedback for _, _, is_feedback in members),
        )


def _examples(picture: LabelledPicture) -> int:
    return len(picture.boxes) or len(picture.labels)


def fitting_views(base: Sequence[int], total: Sequence[int], most_rows: int) -> list[int]:
    """Return how many views of each image to use, so that the features fit into memory.

    A view is the image or an augmented copy. Each view needs one row of features.

    Args:
        base: for each image, the number of views without augmentation. These are always used.
        total: for each image, the number of all views. Augmented views come last.
        most_rows: number of rows of features that fit into memory.

    Returns:
        For each image, the number of views to use. The last views of an image are left out first.
    """
    views = list(total)
    extra = max((w - p for w, p in zip(total, base, strict=True)), default=0)
    while extra > 0 and sum(views) > most_rows:
        extra -= 1
        views = [min(w, p + extra) for w, p in zip(total, base, strict=True)]
    return views


_FEW_PICTURES = 60
_COPIES_OF_FEW = 3
_MANY_PICTURES = 200


def default_copies(pictures: int) -> int:
    """Return how many augmented copies a detection training adds if the caller sent no number.

    Returns:
        The number of copies of all images together. Up to 60 images get 3 copies each, 61 to 200
        images get no copies, and more than 200 images get 1 copy each, the mirror image.
    """
    # Few images are repeated often, so copies reduce overfitting. Many give enough steps to learn
    # from mirror images too. In between, copies are not worth the time to compute their features.
    if pictures <= _FEW_PICTURES:
        return _COPIES_OF_FEW * pictures
    return pictures if pictures > _MANY_PICTURES else 0
