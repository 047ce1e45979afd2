"""Training data of a dense head: feature maps, and the cells that must predict objects."""

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

# Boxes with a shorter side in the view, in pixels, are not trained on.
LEAST_SIDE = 2.0


@dataclass(frozen=True)
class CellTargets:
    """The cells of one view that must predict an object (positives)."""

    cells: Ints
    """Indexes of the cells that must predict an object, int, shape (positives,)."""
    labels: Ints
    """Label of each cell's box, int, shape (positives,)."""
    distances: Doubles
    """Distance of each cell's centre from the left, top, right, bottom of its box, in cells."""

    def __len__(self) -> int:
        return len(self.cells)


def centres(cells: int) -> Doubles:
    """Return x and y of the centre of each cell, float64, (cells * cells, 2), in units of cells."""
    places = np.arange(cells) + 0.5
    return np.stack([np.tile(places, cells), np.repeat(places, cells)], axis=1)


def visible_boxes(boxes: Doubles, labels: Ints, least_share: float) -> tuple[Doubles, Ints]:
    """Clip boxes to their view; remove boxes if too small a part of them is visible.

    Args:
        boxes: left, top, right, bottom in pixels of the view, float64, shape (boxes, 4).
        labels: label indexes of the boxes, int, shape (boxes,).
        least_share: minimum fraction of a box's area that must be visible.
    """
    clipped = np.clip(boxes, 0.0, SIDE)
    sides = clipped[:, 2:] - clipped[:, :2]
    whole = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    is_seen = np.prod(sides, axis=1) >= least_share * whole
    keep = is_seen & (sides.min(axis=1, initial=np.inf) >= LEAST_SIDE)
    return clipped[keep], labels[keep]


def assign(boxes: Doubles, labels: Ints, radius: float, cells: int) -> CellTargets:
    """Assign the cells around the centre of each box to this box; smaller boxes have priority.

    Args:
        boxes: left, top, right, bottom in cells of the map, float64, shape (boxes, 4).
        labels: label indexes of the boxes, int, shape (boxes,).
        radius: largest horizontal and vertical distance from the centre to a cell, in cells.
        cells: number of rows and columns of the map.
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
    middle = (low + high) / 2.0
    first = int(np.ceil(max(middle - radius, low) - 0.5))
    last = int(np.floor(min(middle + radius, high) - 0.5))
    # A box smaller than a cell may cover no centre, but must be trained on, too.
    nearest = min(max(int(middle), 0), cells - 1)
    return slice(max(min(first, nearest), 0), min(max(last, nearest), cells - 1) + 1)


def truth_of(image: LabelledPicture) -> tuple[Doubles, Ints]:
    """Return an image's boxes, float64, (boxes, 4), in pixels, and label indexes, int, (boxes,)."""
    boxes = np.array([known.box.corners for known in image.boxes], np.float64).reshape(-1, 4)
    return boxes, np.array([known.label for known in image.boxes], np.int64)


@dataclass(frozen=True)
class DatasetItem:
    """A view of an image, whose feature maps may be shifted to augment the training."""

    place: int
    """Index of the image."""
    view: int
    shift: MapShift | None = None
    """Shift of the feature maps; None for tiled images."""


@dataclass(frozen=True)
class DetectionDataset:
    """Provides the inputs and the targets of a dense head for training images."""

    data: VisionData
    rules: Rules

    @property
    def labels(self) -> int:
        """Return the number of labels."""
        return len(self.data.pictures.labels)

    def item(self, place: int, view: int, seed: Sequence[int]) -> DatasetItem:
        """Return an item with the view `view` of an image and a random shift given by `seed`."""
        # Shifted maps give new views of an image that has only one.
        return DatasetItem(place, view, None if self.rules.is_tiled else draw_map_shift(seed))

    def maps(self, item: DatasetItem) -> Maps:
        """Return the feature maps of an item's view, shifted if the item has a shift."""
        maps = maps_of(self.data.features.row(item.place, item.view))
        return maps if item.shift is None else item.shift.maps(maps)

    def targets(self, item: DatasetItem) -> CellTargets:
        """Return the cells of an item's view that must predict objects."""
        place, view = item.place, item.view
        image = self.data.pictures.pictures[place]
        width, height = self.data.features.size(place)
        boxes, labels = truth_of(image)
        shown = self.rules.training_view(width, height, image.digest, view)
        moved = shown.to_view(boxes, width, height)
        if item.shift is not None:
            moved = item.shift.boxes(moved)
        seen, seen_labels = visible_boxes(moved, labels, self.rules.least_share)
        return assign(seen / STRIDE, seen_labels, self.rules.radius, CELLS[0])
