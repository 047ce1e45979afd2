"""What a head learns from: the maps of a view and the cells on its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.head.targets import Targets, assign, visible_boxes
from chalicelib.engines.vision.detection.views.disturbance import Disturbance, draw_disturbance
from chalicelib.engines.vision.detection.views.maps import CELLS, STRIDE, Maps, maps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from chalicelib.domain.models.training_pictures import LabelledPicture
    from chalicelib.engines.vision.detection.training.algorithms import Rules
    from chalicelib.engines.vision.interface import VisionData

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def truth_of(picture: LabelledPicture) -> tuple[Floats, Ints]:
    """Boxes of a picture, float64, shape (boxes, 4), in pixels, and labels, int, (boxes,)."""
    boxes = np.array([known.box.corners for known in picture.boxes], np.float64).reshape(-1, 4)
    return boxes, np.array([known.label for known in picture.boxes], np.int64)


@dataclass(frozen=True)
class Turn:
    """One view as it is looked at once."""

    place: int
    """Of the picture."""
    view: int
    """Number of the view."""
    disturbance: Disturbance | None = None
    """What is done to it."""


@dataclass(frozen=True)
class Lessons:
    """Reads what is to be learnt from the pictures of a training."""

    data: VisionData
    """Pictures and features."""
    rules: Rules
    """Of the algorithm."""

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return len(self.data.pictures.labels)

    def turn(self, place: int, view: int, seed: Sequence[int]) -> Turn:
        """Decide how a view is learnt from; the seed chooses what happens to it."""
        is_alone = self.data.features.views(place) == 1 and not self.rules.is_tiled
        return Turn(place, view, draw_disturbance(seed) if is_alone else None)

    def maps(self, turn: Turn) -> Maps:
        """Maps of one view of a picture."""
        maps = maps_of(self.data.features.row(turn.place, turn.view))
        return maps if turn.disturbance is None else turn.disturbance.maps(maps)

    def targets(self, turn: Turn) -> Targets:
        """Cells on objects in one view of a picture."""
        place, view = turn.place, turn.view
        picture = self.data.pictures.pictures[place]
        width, height = self.data.features.size(place)
        boxes, labels = truth_of(picture)
        shown = self.rules.learnt_view(width, height, picture.digest, view)
        moved = shown.to_view(boxes, width, height)
        if turn.disturbance is not None:
            moved = turn.disturbance.boxes(moved)
        seen, seen_labels = visible_boxes(moved, labels, self.rules.least_share)
        return assign(seen / STRIDE, seen_labels, self.rules.radius, CELLS[0])
