"""Detection on evaluation data: average precision at IoU .5, and NanoDet as it is shipped.

Average precision is computed here anew, from plain boxes, so that a mistake in the product's own
measure would show. Source: Everingham et al. 2015, all-point average precision.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from chalicelib.domain.documents.picture import Picture
from chalicelib.domain.models.prediction import Detection
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.interface import TrainedVision, VisionData
from chalicelib.engines.vision.registry import extractor_for
from tests.bench.report import Bar, Report, say
from tests.bench.vision_data import (
    THREADS,
    CachedFeatures,
    Example,
    PictureSet,
    boxed_pictures,
    read_set,
)
from tests.bench.vision_engine import run_training

ROUNDS = 300
NMS = 0.6
LEVELS = ((52, 8), (26, 16), (13, 32))
Found = tuple[str, float, np.ndarray]
"""Label, score, and left, top, right, bottom in pixels."""
Key = tuple[bytes, str]
"""A picture file under one name."""


def truths_of(source: PictureSet) -> dict[Key, list[Example]]:
    """Group the boxes of a set by picture."""
    groups: dict[Key, list[Example]] = defaultdict(list)
    for example in source.examples:
        groups[example.digest, example.name].append(example)
    return dict(groups)


def ask(model: TrainedVision, source: PictureSet, keys: Sequence[Key]) -> list[list[Found]]:
    """Detect in every picture."""

    def one(key: Key) -> list[Found]:
        picture = source.open(key[0], model.least_side)
        items = [item for item in model.predict(picture) if isinstance(item, Detection)]
        return [
            (i.label, i.probability, np.array([i.box.min_x, i.box.min_y, i.box.max_x, i.box.max_y]))
            for i in items
        ]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, keys))


def overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of a box with others, shape (others,)."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    return shared / np.maximum(np.prod(box[2:] - box[:2]) + areas - shared, 1e-9)


def label_hits(
    found: list[Found], truth: list[Example], label: str | None
) -> tuple[list[tuple[float, bool]], int]:
    """Score and rightness of the answers of one label in one picture; the boxes there are."""
    boxes = np.array([e.box.corners for e in truth if label in (None, e.label) and e.box])
    taken = np.zeros(len(boxes), bool)
    hits = []
    answers = [(score, box) for name, score, box in found if label in (None, name)]
    for score, box in sorted(answers, key=lambda pair: -pair[0]):
        shared = overlap(box, boxes) if len(boxes) else np.zeros(1)
        best = int(shared.argmax())
        is_right = bool(len(boxes)) and shared[best] >= 0.5 and not taken[best]
        if is_right:
            taken[best] = True
        hits.append((score, is_right))
    return hits, len(boxes)


def area(hits: list[tuple[float, bool]], count: int) -> float:
    """Area under the precision-recall curve."""
    if not hits:
        return 0.0
    right = np.array([hit for _, hit in sorted(hits, key=lambda pair: -pair[0])])
    recall = np.cumsum(right) / count
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float((np.diff(recall, prepend=0) * best).sum())


def mean_precision(
    found: list[list[Found]], truths: list[list[Example]], labels: Sequence[str | None]
) -> tuple[float, tuple[float, float]]:
    """Mean average precision of labels that are there; bootstrap interval over pictures."""
    parts = {
        label: [label_hits(f, t, label) for f, t in zip(found, truths, strict=True)]
        for label in labels
    }

    def score(keep: np.ndarray) -> float:
        values = []
        for label in labels:
            count = sum(parts[label][at][1] for at in keep)
            if count:
                values.append(area([hit for at in keep for hit in parts[label][at][0]], count))
        return float(np.mean(values))

    rng = np.random.default_rng(0)
    size = len(found)
    draws = [score(rng.integers(0, size, size)) for _ in range(ROUNDS)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return score(np.arange(size)), (float(low), float(high))


class Shipped:
    """NanoDet-g with its own 80 labels and its own head."""

    def __init__(self, backbones: BackbonePool) -> None:
        self._net = backbones.get("nanodet")
        labels = json.loads((backbones.folder("nanodet") / "labels.json").read_text())
        self.labels: list[str] = labels

    def detect(self, picture: Picture) -> list[Found]:
        """Detect in a picture, squashed to 416 x 416."""
        pixels = Image.fromarray(picture.pixels).resize((416, 416), Image.Resampling.BILINEAR)
        names = [f"{kind}{side}" for kind in ("scores", "boxes") for side, _ in LEVELS]
        outputs = self._net.run(np.asarray(pixels)[None], names)
        boxes, scores = [], []
        for (side, stride), score, bins in zip(LEVELS, outputs[:3], outputs[3:], strict=True):
            boxes.append(_boxes(bins[0], side, stride))
            scores.append(score[0])
        scale = np.array([picture.width, picture.height] * 2) / 416
        return self._kept(np.concatenate(boxes) * scale, np.concatenate(scores))

    def _kept(self, boxes: np.ndarray, scores: np.ndarray) -> list[Found]:
        """Keep the best box of each object."""
        found: list[Found] = []
        for label in np.flatnonzero(scores.max(axis=0) >= 0.05):
            order = np.argsort(-scores[:, label])[:200]
            order = order[scores[order, label] >= 0.05]
            while len(order):
                best = order[0]
                found.append((self.labels[label], float(scores[best, label]), boxes[best]))
                order = order[1:][overlap(boxes[best], boxes[order[1:]]) < NMS]
        return sorted(found, key=lambda item: -item[1])[:100]


def _boxes(bins: np.ndarray, side: int, stride: int) -> np.ndarray:
    """Turn distance bins into boxes in pixels of the input, shape (cells, 4)."""
    weights = np.exp(bins.reshape(side * side, 4, 11))
    weights /= weights.sum(axis=2, keepdims=True)
    reach = (weights @ np.arange(11)) * stride
    centre = (np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) + 0.5) * (
        stride
    )
    return np.concatenate([centre - reach[:, :2], centre + reach[:, 2:]], axis=1)


def bench_shipped(report: Report, data: Path, backbones: BackbonePool) -> None:
    """NanoDet-g as shipped, the backbone's conversion judged by its own task."""
    test = read_set(data, "coco256_test", "image-detection")
    shipped, truths = Shipped(backbones), truths_of(test)
    found = [shipped.detect(test.open(digest, 416)) for digest, _ in truths]
    score, interval = mean_precision(found, list(truths.values()), test.labels)
    report.add("NanoDet-g as shipped, COCO: AP50", score, "", Bar(0.43), None, interval)


def bench_detection(
    report: Report, data: Path, backbones: BackbonePool, name: str, algorithm: str, bar: Bar
) -> tuple[TrainedVision, PictureSet]:
    """AP50 of a detector trained on a whole archive."""
    kind = "image-detection"
    train, test = read_set(data, f"{name}_train", kind), read_set(data, f"{name}_test", kind)
    pictures = boxed_pictures(train.examples, train.labels)
    digests = [picture.digest for picture in pictures.pictures]
    extractor = extractor_for(kind, algorithm, backbones)
    features = CachedFeatures(extractor, train, digests)
    given = VisionData(pictures, features, lambda at, side: train.open(digests[at], side))
    _, model, _ = run_training(kind, given, backbones, algorithm=algorithm)
    truths = truths_of(test)
    keys = list(truths)
    score, interval = mean_precision(ask(model, test, keys), list(truths.values()), train.labels)
    shipped = Shipped(backbones)
    plain = [shipped.detect(test.open(digest, 416)) for digest, _ in keys]
    peer, _ = mean_precision(plain, list(truths.values()), [None])
    say(f"{name}: {len(keys)} pictures asked")
    named = ("NanoDet as shipped, any label", round(peer, 3))
    report.add(f"{name}, {algorithm}: AP50", score, "", bar, named, interval)
    return model, test
