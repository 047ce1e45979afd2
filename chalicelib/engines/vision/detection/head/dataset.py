"""What a head learns from: the maps of a view, and the cells that lie on its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines.vision.detection.views.map_shift import MapShift, draw_map_shift
from chalicelib.engines.vision.detection.views.maps import CELLS, SIDE, STRIDE, Maps, maps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Doubles, Ints
    from chalicelib.domain.models.training_pictures import LabelledPicture
    from chalicelib.engines.vision.detection.algorithms import Rules
    from chalicelib.engines.vision.interface import VisionData


# Boxes that are thinner in the view are not trained on, in pixels.
LEAST_SIDE = 2.0


@dataclass(frozen=True)
class CellTargets:
    """The cells of one view that lie on an object."""

    cells: Ints
    """Index of each such cell, in reading order, int, shape (positives,)."""
    labels: Ints
    """Label of its box, int, shape (positives,)."""
    distances: Doubles
    """From the cell's centre to left, top, right, bottom, in cells, shape (positives, 4)."""

    def __len__(self) -> int:
        """Cells on an object."""
        return len(self.cells)


def centres(cells: int) -> Doubles:
    """Centres of all cells.

    Args:
        cells: width and height of the map.

    Returns:
        x and y in cells from the top left, float64, shape (cells * cells, 2), in reading order.
    """
    places = np.arange(cells) + 0.5
    return np.stack([np.tile(places, cells), np.repeat(places, cells)], axis=1)


def visible_boxes(boxes: Doubles, labels: Ints, least_share: float) -> tuple[Doubles, Ints]:
    """Clip boxes to the view, and leave out those of which too little is seen.

    Args:
        boxes: left, top, right, bottom in pixels of the view, float64, shape (boxes, 4).
        labels: int, shape (boxes,).
        least_share: of a box's area that has to be seen.

    Returns:
        Boxes and labels that remain.
    """
    clipped = np.clip(boxes, 0.0, SIDE)
    sides = clipped[:, 2:] - clipped[:, :2]
    whole = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    is_seen = np.prod(sides, axis=1) >= least_share * whole
    keep = is_seen & (sides.min(axis=1, initial=np.inf) >= LEAST_SIDE)
    return clipped[keep], labels[keep]


def assign(boxes: Doubles, labels: Ints, radius: float, cells: int) -> CellTargets:
    """Return the cells around each box's centre to it; where boxes compete, the smallest wins.

    Args:
        boxes: left, top, right, bottom in cells of the map, float64, shape (boxes, 4).
        labels: int, shape (boxes,).
        radius: farthest distance of a cell from the centre, along either side, in cells.
        cells: width and height of the map.

    Returns:
        The cells on objects.
    """
    owner = np.full((cells, cells), -1, np.int64)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    # The largest first, so that each smaller one writes over it.
    for box in np.argsort(-areas, kind="stable"):
        left, top, right, bottom = (float(side) for side in boxes[box])
        columns, rows = _span(left, right, radius, cells), _span(top, bottom, radius, cells)
        owner[rows, columns] = box
    chosen = np.flatnonzero(owner.ravel() >= 0)
    owners = owner.ravel()[chosen]
    points = centres(cells)[chosen]
    own = boxes[owners]
    distances = np.concatenate([points - own[:, :2], own[:, 2:] - points], axis=1)
    return CellTargets(chosen, labels[owners], distances)


def _span(low: float, high: float, radius: float, cells: int) -> slice:
    """Cells along one side: near the middle and inside the box, at least the middle one."""
    middle = (low + high) / 2.0
    first = int(np.ceil(max(middle - radius, low) - 0.5))
    last = int(np.floor(min(middle + radius, high) - 0.5))
    # A box that is smaller than a cell covers no centre, and must be trained on all the same.
    nearest = min(max(int(middle), 0), cells - 1)
    return slice(max(min(first, nearest), 0), min(max(last, nearest), cells - 1) + 1)


def truth_of(picture: LabelledPicture) -> tuple[Doubles, Ints]:
    """Boxes of a picture, float64, shape (boxes, 4), in pixels, and labels, int, (boxes,)."""
    boxes = np.array([known.box.corners for known in picture.boxes], np.float64).reshape(-1, 4)
    return boxes, np.array([known.label for known in picture.boxes], np.int64)


@dataclass(frozen=True)
class DatasetItem:
    """One view as it is looked at once."""

    place: int
    """Of the picture."""
    view: int
    """Number of the view."""
    shift: MapShift | None = None
    """What is done to it."""


@dataclass(frozen=True)
class DetectionDataset:
    """Reads the targets from the pictures of a training."""

    data: VisionData
    """Pictures and features."""
    rules: Rules
    """Of the algorithm."""

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return len(self.data.pictures.labels)

    def item(self, place: int, view: int, seed: Sequence[int]) -> DatasetItem:
        """Choose how a view is augmented; the seed decides."""
        # Where one view is all there is, its maps are shifted to make others of it.
        return DatasetItem(place, view, None if self.rules.is_tiled else draw_map_shift(seed))

    def maps(self, item: DatasetItem) -> Maps:
        """Maps of one view of a picture."""
        maps = maps_of(self.data.features.row(item.place, item.view))
        return maps if item.shift is None else item.shift.maps(maps)

    def targets(self, item: DatasetItem) -> CellTargets:
        """Cells on objects in one view of a picture."""
        place, view = item.place, item.view
        picture = self.data.pictures.pictures[place]
        width, height = self.data.features.size(place)
        boxes, labels = truth_of(picture)
        shown = self.rules.training_view(width, height, picture.digest, view)
        moved = shown.to_view(boxes, width, height)
        if item.shift is not None:
            moved = item.shift.boxes(moved)
        seen, seen_labels = visible_boxes(moved, labels, self.rules.least_share)
        return assign(seen / STRIDE, seen_labels, self.rules.radius, CELLS[0])
