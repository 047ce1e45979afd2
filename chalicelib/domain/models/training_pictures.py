"""Labelled pictures as a training uses them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from chalicelib.domain.datasets.dataset import DETECTION, MULTI_LABEL
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.documents.picture import Box


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """One object in a picture."""

    label: int
    """Index into the training's labels."""
    box: Box
    """Where it is."""
    example_id: int
    """The example that says so."""


@dataclass(frozen=True, slots=True)
class LabelledPicture:
    """One picture with all that is known of it.

    Type image: one example. Multi-label: the examples of one picture file. Detection: the boxes
    of one picture file under one name.
    """

    dataset_id: int
    """Dataset that stores it."""
    digest: bytes
    """Digest of the picture file, 16 bytes; equal files stay on one side of a split."""
    name: str
    """File name."""
    labels: tuple[int, ...] = ()
    """Indexes into the training's labels; empty for detection."""
    example_ids: tuple[int, ...] = ()
    """The examples, in the order of `labels`; empty for detection."""
    boxes: tuple[LabelledBox, ...] = ()
    """Detection: the objects."""
    is_feedback: bool = False
    """Whether it was added as feedback."""


@dataclass
class TrainingPictures:
    """Labelled pictures of one or two datasets, in dataset, label and id order."""

    labels: list[str] = field(default_factory=list)
    """Label names; those of a global dataset follow."""
    pictures: list[LabelledPicture] = field(default_factory=list)
    """What to learn from."""
    examples: int = 0
    """How many examples they are."""
    feedback: int = 0
    """How many of the examples are feedback."""
    label_ids: list[int] = field(default_factory=list)
    """Ids of the labels, in the order of `labels`; those of a global dataset have none."""

    def keep(self, places: Sequence[int]) -> TrainingPictures:
        """Return the pictures at some places, with the same labels."""
        kept = [self.pictures[place] for place in places]
        return TrainingPictures(
            self.labels,
            kept,
            sum(map(_examples, kept)),
            sum(_examples(picture) for picture in kept if picture.is_feedback),
            self.label_ids,
        )


class PictureGroups:
    """Puts examples together to the pictures that a type of dataset learns from."""

    def __init__(self, dataset_type: str) -> None:
        self._type = dataset_type
        self._groups: dict[tuple[int, Hashable], list[tuple[int, Example, bool]]] = {}

    def add(self, dataset_id: int, example: Example, label: int, *, is_feedback: bool) -> None:
        """Add an example of a dataset with the index of its label."""
        key: Hashable = example.example_id
        if self._type == MULTI_LABEL:
            key = example.picture
        elif self._type == DETECTION:
            key = example.picture, example.name
        self._groups.setdefault((dataset_id, key), []).append((label, example, is_feedback))

    def training(self, labels: list[str]) -> TrainingPictures:
        """Make the pictures, in the order of their first examples."""
        made = TrainingPictures(labels)
        for (dataset_id, _), members in self._groups.items():
            made.pictures.append(self._picture(dataset_id, members))
            made.examples += len(members)
            made.feedback += sum(is_feedback for _, _, is_feedback in members)
        return made

    def _picture(
        self, dataset_id: int, members: Sequence[tuple[int, Example, bool]]
    ) -> LabelledPicture:
        """Make one picture of its examples."""
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


def fitting_views(plain: Sequence[int], wanted: Sequence[int], most_rows: int) -> list[int]:
    """Leave augmented views out, the same number everywhere, until the rest fits.

    Args:
        plain: views of each picture that show it as it is; they are never left out.
        wanted: views of each picture with the augmented ones, which come last.
        most_rows: rows of features that there is space for.

    Returns:
        Views of each picture to use, from the first.
    """
    views = list(wanted)
    extra = max((w - p for w, p in zip(wanted, plain, strict=True)), default=0)
    while extra > 0 and sum(views) > most_rows:
        extra -= 1
        views = [min(w, p + extra) for w, p in zip(wanted, plain, strict=True)]
    return views


_FEW_PICTURES = 60
_COPIES_OF_FEW = 3
_MANY_PICTURES = 200


def default_copies(pictures: int) -> int:
    """Altered copies that a training of boxes learns from where its caller says nothing.

    Every copy costs a run of the networks. Few pictures are gone over time and again, so copies
    keep them from being learnt by heart; of many, there are steps enough to learn from the mirror
    images, too. In between neither holds.

    Args:
        pictures: how many there are.

    Returns:
        Three of each of up to 60 pictures, one of each of more than 200, the mirror image.
    """
    if pictures <= _FEW_PICTURES:
        return _COPIES_OF_FEW * pictures
    return pictures if pictures > _MANY_PICTURES else 0
