"""The data that the stages of a detection training share, and the interface of a stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from chalicelib.engines.vision.detection.algorithms import Rules, rules_of
from chalicelib.engines.vision.detection.head.dataset import LEAST_SIDE, DetectionDataset, truth_of
from chalicelib.engines.vision.detection.head.fit import BATCH, BEST_RATE, DenseFitOptions
from chalicelib.engines.vision.detection.training.holdout import hold_out_images
from chalicelib.engines.vision.detection.views.extractor import compute_row, render
from chalicelib.engines.vision.detection.views.maps import SIDE, Maps, maps_of
from chalicelib.engines.vision.detection.views.views import TILED_SIDE, ImageView
from chalicelib.errors import TrainingFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chalicelib.domain.common.arrays import Array
    from chalicelib.engines.vision.backbone.pool import BackbonePool
    from chalicelib.engines.vision.interface import VisionData, VisionOptions

_DEFAULT_RATE = 0.001
# Minimum number of optimiser steps; with fewer, a head is far from its best results.
_FEWEST_STEPS = 700
# Maximum number of passes over the images in an epoch.
_MOST_PASSES = 3


class TrainingStage(Protocol):
    """A part of a training that runs in steps and can be saved between them."""

    @property
    def seconds(self) -> float:
        """Return the approximate time of the whole stage, in seconds on one core."""
        ...

    @property
    def share(self) -> float:
        """Progress of the stage, 0 to 1."""
        ...

    @property
    def is_done(self) -> bool:
        """Whether the stage is finished."""
        ...

    def advance(self) -> dict[str, Any] | None:
        """Work for about a second; if an epoch ends, return its learning curve record."""
        ...

    def arrays(self) -> Mapping[str, Array]:
        """Return the state of the stage as arrays; `restore` resumes from them."""
        ...

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Resume from the state that the method `arrays` returned."""
        ...


@dataclass(frozen=True)
class DetectionContext:
    """The options and images of a training. Images are split into training and held-out images."""

    data: VisionData
    options: VisionOptions
    backbones: BackbonePool
    trained: Sequence[int]
    """Indexes of the images to train on."""
    tested: Sequence[int]
    """Indexes of the held-out images."""

    @property
    def rules(self) -> Rules:
        """Return the settings of the algorithm."""
        return rules_of(self.options.algorithm)

    @property
    def dataset(self) -> DetectionDataset:
        """Return the data for training dense heads."""
        return DetectionDataset(self.data, self.rules)

    @property
    def labels(self) -> Sequence[str]:
        """Return the label names."""
        return self.data.pictures.labels

    @property
    def passes(self) -> int:
        """Return how many times an epoch uses each image."""
        # An epoch that the caller asked for is one pass, and tiles give enough steps.
        if self.options.has_named_epochs or self.rules.is_tiled:
            return 1
        steps = self.options.epochs * -(-len(self.trained) // BATCH)
        return min(-(-_FEWEST_STEPS // steps), _MOST_PASSES)

    @property
    def has_proposal_record(self) -> bool:
        """Whether the learning curve begins with a record of the proposals' metrics."""
        # Epochs that the caller asked for are all of the dense head.
        is_free = self.options.epochs > 1 and not self.options.has_named_epochs
        return is_free and not self.rules.is_tiled

    def mirrored_maps(self, place: int) -> Maps:
        """Return feature maps of an image's mirror image, computed like those of a prediction."""
        features = self.data.features
        # The first copy of an image is its mirror image: see `augmented_view`.
        if features.views(place) > 1:
            return maps_of(features.row(place, 1))
        pixels = self.data.open_picture(place, SIDE).pixels
        return maps_of(compute_row(self.backbones, render(pixels, ImageView().mirrored())))

    def fit_options(self, epochs: int) -> DenseFitOptions:
        """Return the options for training a dense head for `epochs` epochs."""
        options = self.options
        rate = BEST_RATE * (options.learning_rate or _DEFAULT_RATE) / _DEFAULT_RATE
        return DenseFitOptions(epochs, rate, options.seed, options.threads, self.passes)


def make_context(
    data: VisionData, options: VisionOptions, backbones: BackbonePool
) -> DetectionContext:
    """Split the images into a training part and a held-out part; return the context.

    Raises:
        TrainingFailed: no image has a usable box.
    """
    pictures = data.pictures.pictures
    rules = rules_of(options.algorithm)
    usable = [place for place in range(len(pictures)) if _is_usable(data, place, rules)]
    if not usable:
        raise TrainingFailed(_nothing_usable(data, rules))
    labels = len(data.pictures.labels)
    chosen = [pictures[place] for place in usable]
    held = {
        usable[index]
        for index in hold_out_images(chosen, labels, options.split_ratio, options.seed)
    }
    trained = [place for place in usable if place not in held]
    return DetectionContext(data, options, backbones, trained, sorted(held))


def _is_usable(data: VisionData, place: int, rules: Rules) -> bool:
    boxes, _ = truth_of(data.pictures.pictures[place])
    width, height = data.features.size(place)
    across, down = _seen_size(width, height, rules)
    sides = (boxes[:, 2:] - boxes[:, :2]) * (across / width, down / height)
    return bool((sides.min(axis=1, initial=np.inf) >= LEAST_SIDE).any())


def _seen_size(width: int, height: int, rules: Rules) -> tuple[float, float]:
    if not rules.is_tiled:
        return SIDE, SIDE
    scale = TILED_SIDE / max(width, height)
    return width * scale, height * scale


def _nothing_usable(data: VisionData, rules: Rules) -> str:
    pictures = data.pictures.pictures
    if not any(image.boxes for image in pictures):
        return (
            f"None of the {len(pictures)} images has a box. Add images with annotations and "
            "train again."
        )
    place = next(place for place, image in enumerate(pictures) if image.boxes)
    width, height = data.features.size(place)
    across, down = _seen_size(width, height, rules)
    box = pictures[place].boxes[0].box
    return (
        f"Every box is too thin to be seen: {pictures[place].name} measures {width} x {height} "
        f"pixels, and its box at x {box.x:g}, y {box.y:g} {box.width:g} x {box.height:g}, below "
        f"{LEAST_SIDE:g} pixels in the {across:.0f} x {down:.0f} pixels that the engine looks at. "
        "Crop the images around the objects, upload them and train again."
    )
