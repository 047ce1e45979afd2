"""Replaces all boxes of an image in one commit. Boxes that do not change keep their ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.domain.common.clock import Clock
from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES, MAX_DETECTION_IMAGE_BYTES
from chalicelib.domain.datasets.corrections import (
    Correction,
    CorrectionResult,
    ExampleChange,
    ExampleNotFound,
    target_label,
)
from chalicelib.domain.datasets.dataset import DETECTION, SOURCES, Dataset, DatasetView
from chalicelib.domain.datasets.example import Example, box_digest
from chalicelib.domain.datasets.growth import check_changeable
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidParameter, TooLarge
from chalicelib.formats.archives.box_cells import CellFault, checked_sides, clip_box
from chalicelib.formats.pictures.reading import picture_facts
from chalicelib.stores.datasets.corrections import CorrectionPlan, CorrectionStore

if TYPE_CHECKING:
    from chalicelib.stores.aws.counters import IdStore
    from chalicelib.stores.examples.examples import ExampleStore
    from chalicelib.stores.examples.pictures import PictureStore

# Maximum number of boxes of one call.
MAX_BOXES = 1_000


@dataclass(frozen=True)
class SentBox:
    """A box of a request."""

    box: Box
    """The box, in pixels of the image as displayed."""
    label_id: int | None = None
    """Id of the label; None if the label is given by name."""
    label: str | None = None
    """Name of the label; None if the label is given by id."""


class BoxService:
    """Replaces the boxes of images. One write of the dataset's row commits a replacement."""

    def __init__(
        self,
        examples: ExampleStore,
        ids: IdStore,
        corrections: CorrectionStore,
        pictures: PictureStore,
        clock: Clock,
    ) -> None:
        self._examples = examples
        self._ids = ids
        self._corrections = corrections
        self._pictures = pictures
        self._clock = clock

    def replace(
        self, view: DatasetView, example_id: int, boxes: Sequence[SentBox]
    ) -> CorrectionResult:
        """Replace all boxes of the image that an example belongs to.

        A box that exists already keeps its id, even if its label changes. A box that is sent twice
        is stored once. Boxes are clipped to the image, as in uploads.

        `example_id` is the id of any box of the image. An empty list removes all boxes.

        Raises:
            InvalidParameter: the dataset is not for object detection, or a box is not valid.
            LabelNotFound: the dataset has no label with one of the ids.
            ExampleNotFound: another call has removed the example.
            TooLarge: the dataset would have more examples than the limit.
            DatasetNotYetAvailable: an upload is running.
            DatasetBeingDeleted: the dataset is being deleted.
        """
        row = view.dataset
        if row.type != DETECTION:
            raise InvalidParameter(
                "boxes", f"dataset {row.dataset_id} is of type {row.type}; {DETECTION} has boxes."
            )
        check_changeable(row)
        _, example = self._corrections.find(row, [example_id]).get(example_id, (None, None))
        digest = "" if example is None else example.picture
        content = self._pictures.get(row.dataset_id, digest)
        if content is None:
            raise ExampleNotFound(example_id)
        # The size is read from the file, because examples do not store it.
        facts = picture_facts(content, MAX_DETECTION_IMAGE_BYTES)
        checked = _checked(view, boxes, facts.width, facts.height)
        return self._corrections.correct(
            # Planned under the lease, so that no other correction changes the boxes meanwhile.
            row,
            lambda dataset: self._plan(dataset, example_id, checked),
        )

    def _plan(
        self, dataset: Dataset, example_id: int, boxes: Sequence[tuple[int, Box]]
    ) -> CorrectionPlan:
        source, example, there = self._boxes_of_image(dataset, example_id)
        picture = bytes.fromhex(example.picture)
        # By label and digest, so that a box that was sent twice counts once.
        new = {(label_id, box_digest(picture, box)): box for label_id, box in boxes}
        kept = [one for one in there if (one.label_id, one.digest) in new]
        for one in kept:
            new.pop((one.label_id, one.digest), None)
        changes = []
        for one in there:
            if one not in kept:
                # An equal box under another label is the same box, and keeps its id.
                moved = next((key for key in new if key[1] == one.digest), None)
                label_id = 0 if moved is None else moved[0]
                changes.append(ExampleChange(one.example_id, label_id, is_removed=moved is None))
                new.pop(moved or (0, b""), None)
        if dataset.total - len(changes) + len(new) > MAX_DATASET_EXAMPLES:
            raise TooLarge(
                f"Dataset {dataset.dataset_id} would have more than {MAX_DATASET_EXAMPLES} "
                "examples. Send fewer boxes."
            )
        added = self._new(example, [(label_id, box) for (label_id, _), box in new.items()])
        return CorrectionPlan(changes, added=[(source, one) for one in added], shown=kept)

    def _boxes_of_image(
        self, dataset: Dataset, example_id: int
    ) -> tuple[str, Example, list[Example]]:
        """Return the source of an example, the example, and all boxes in the example's image."""
        found = self._corrections.find(dataset, [example_id]).get(example_id)
        if found is None:
            raise ExampleNotFound(example_id)
        sequence, example = found
        boxes = [
            one
            for source in SOURCES
            # There is no index of images: a row per image would double the writes of an upload.
            for one in self._examples.read_all(dataset.dataset_id, source, dataset.counts)
            if one.picture == example.picture
        ]
        return sequence.source, example, sorted(boxes, key=lambda one: one.example_id)

    def _new(self, example: Example, boxes: Sequence[tuple[int, Box]]) -> list[Example]:
        if not boxes:
            return []
        first, now = self._ids.reserve("examples", len(boxes)), self._clock()
        return [
            Example(number, example.name, now, label_id, example.picture, box)
            for number, (label_id, box) in enumerate(boxes, first)
        ]


def _checked(
    view: DatasetView, boxes: Sequence[SentBox], width: int, height: int
) -> list[tuple[int, Box]]:
    """Return the label id and the box of each sent box, checked and clipped to the image."""
    if len(boxes) > MAX_BOXES:
        raise InvalidParameter(
            "boxes", f"there are {len(boxes)}, and at most {MAX_BOXES} are allowed; send fewer."
        )
    checked = []
    for place, one in enumerate(boxes):
        at = f"boxes[{place}]"
        label_id = target_label(view, Correction(0, one.label_id, one.label), f"{at}.")
        if not label_id:
            raise InvalidParameter(at, "send 'labelId' or 'label' with each box.")
        box = one.box
        try:
            box = clip_box(checked_sides(box.x, box.y, box.width, box.height), width, height)
        except CellFault as fault:
            raise InvalidParameter(at, str(fault)) from fault
        checked.append((label_id, box))
    return checked
