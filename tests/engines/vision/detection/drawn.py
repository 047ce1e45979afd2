"""Drawn images with known boxes, and a training on them."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from chalicelib.domain.documents.picture import Box, Picture
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.training_pictures import (
    LabelledBox,
    LabelledPicture,
    TrainingPictures,
)
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.detection.views.extractor import DetectionExtractor, RetailExtractor
from chalicelib.engines.vision.interface import VisionData, VisionOptions
from tests.engines.vision.memory_features import MemoryFeatures

POOL = BackbonePool(Path(__file__).parents[4] / ".models")
LABELS = ["ball", "crate"]
WIDTH, HEIGHT = 300, 240
NOW = datetime(2024, 3, 4, tzinfo=UTC)
MODEL = Model(
    account_id="a",
    model_id="M",
    name="drawn",
    dataset_id=7,
    family="vision",
    type="image-detection",
    language="N/A",
    status="RUNNING",
    progress=0.0,
    created_at=NOW,
    updated_at=NOW,
)


def drawn_picture(seed: int) -> tuple[Picture, list[tuple[int, Box]]]:
    """Draw a red ball and a blue crate on a noisy background; return also their boxes."""
    generator = np.random.default_rng(seed)
    ground = generator.integers(120, 180, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    image = Image.fromarray(ground)
    draw = ImageDraw.Draw(image)
    known = []
    for label, left in enumerate(generator.permutation([10, 160])):
        side = int(generator.integers(60, 110))
        x, y = int(left), int(generator.integers(5, HEIGHT - side - 5))
        corners = (x, y, x + side, y + side)
        if label == 0:
            draw.ellipse(corners, fill=(200, 30, 30), outline=(90, 0, 0), width=4)
        else:
            draw.rectangle(corners, fill=(30, 40, 190), outline=(0, 0, 60), width=6)
            draw.line(corners, fill=(0, 0, 60), width=5)
        known.append((label, Box(x, y, side, side)))
    return Picture(np.asarray(image), WIDTH, HEIGHT), known


def labelled(seed: int, first_id: int) -> tuple[LabelledPicture, Picture]:
    """Return a drawn image in the form that a training expects."""
    image, known = drawn_picture(seed)
    boxes = tuple(
        LabelledBox(label, box, first_id + index) for index, (label, box) in enumerate(known)
    )
    digest = blake2b(image.pixels.tobytes(), digest_size=16).digest()
    return LabelledPicture(7, digest, f"drawn-{seed}.png", boxes=boxes), image


@cache
def _all_drawn(count: int, *, retail: bool) -> VisionData:
    """Return drawn images with their features, computed once."""
    pairs = [labelled(seed, 2 * seed) for seed in range(count)]
    pictures = [image for _, image in pairs]
    extractor = (RetailExtractor if retail else DetectionExtractor)(POOL)
    features = MemoryFeatures(extractor, pictures, [known.digest for known, _ in pairs], threads=2)
    known = TrainingPictures(LABELS, [known for known, _ in pairs], 2 * count, 0)
    return VisionData(known, features, lambda place, _: pictures[place])


def drawn_data(count: int = 16, *, retail: bool = False) -> VisionData:
    """Return the first of the drawn images; at most 16, and 2 in tiles."""
    whole = _all_drawn(2 if retail else 16, retail=retail)
    pictures = TrainingPictures(LABELS, whole.pictures.pictures[:count], 2 * count, 0)
    return replace(whole, pictures=pictures)


def options(**changes: object) -> VisionOptions:
    """Return options of a short training."""
    chosen = {"epochs": 2, "learning_rate": 0.001, "split_ratio": 0.8, "threads": 2}
    return VisionOptions(**{**chosen, **changes})
