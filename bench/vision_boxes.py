"""Measures trained detectors and the published NanoDet by average precision at IoU .5.

Average precision is computed here from plain boxes, without the product's code, so that an error in
the product's own metric is noticed. Source: Everingham et al. 2015, all-point average precision.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from bench.bench_http import ceiling
from bench.report import Bar, Report, say
from bench.vision_data import (
    THREADS,
    CachedFeatures,
    Example,
    PictureSet,
    boxed_pictures,
    read_set,
)
from bench.vision_engine import DRAWS, run_training, spread
from chalicelib.domain.documents.picture import Picture
from chalicelib.domain.models.prediction import Detection
from chalicelib.domain.models.training_pictures import default_copies
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.detection.algorithms import rules_of
from chalicelib.engines.vision.interface import FittedVision, TrainedVision, VisionData
from chalicelib.engines.vision.registry import extractor_for

ROUNDS = 300
NMS = 0.6
LEVELS = ((52, 8), (26, 16), (13, 32))
Found = tuple[str, float, np.ndarray]
"""Label, score, and left, top, right, bottom in pixels."""
Key = tuple[bytes, str]
"""Digest of an image file, and one of its names."""


def truths_of(source: PictureSet) -> dict[Key, list[Example]]:
    """Group the true boxes of a dataset by image."""
    groups: dict[Key, list[Example]] = defaultdict(list)
    for example in source.examples:
        groups[example.digest, example.name].append(example)
    return dict(groups)


def ask(model: TrainedVision, source: PictureSet, keys: Sequence[Key]) -> list[list[Found]]:
    """Detect objects in each image."""

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
    """Return the intersection over union of a box with each of `others`, shape (others,)."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    return shared / np.maximum(np.prod(box[2:] - box[:2]) + areas - shared, 1e-9)


def label_hits(
    found: list[Found], truth: list[Example], label: str | None
) -> tuple[list[tuple[float, bool]], int]:
    """Return score and correctness of each detection of a label, and the number of true boxes."""
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
    """Return the area under the precision-recall curve."""
    if not hits:
        return 0.0
    right = np.array([hit for _, hit in sorted(hits, key=lambda pair: -pair[0])])
    recall = np.cumsum(right) / count
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float((np.diff(recall, prepend=0) * best).sum())


def mean_precision(
    found: list[list[Found]],
    truths: list[list[Example]],
    labels: Sequence[str | None],
    rounds: int = ROUNDS,
) -> tuple[float, tuple[float, float]]:
    """Return the mean average precision over labels with true boxes, and its bootstrap interval."""
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
    draws = [score(rng.integers(0, size, size)) for _ in range(rounds)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return score(np.arange(size)), (float(low), float(high))


class Shipped:
    """The published NanoDet-g, with its original head and 80 labels."""

    def __init__(self, backbones: BackbonePool) -> None:
        self._net = backbones.get("nanodet")
        labels = json.loads((backbones.folder("nanodet") / "labels.json").read_text())
        self.labels: list[str] = labels

    def detect(self, picture: Picture) -> list[Found]:
        """Scale an image to 416 x 416 pixels, and detect objects in it."""
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
        """Return only the best box of each object."""
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
    """Convert distance bins to boxes in pixels of the input, shape (cells, 4)."""
    weights = np.exp(bins.reshape(side * side, 4, 11))
    weights /= weights.sum(axis=2, keepdims=True)
    reach = (weights @ np.arange(11)) * stride
    centre = (np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) + 0.5) * (
        stride
    )
    return np.concatenate([centre - reach[:, :2], centre + reach[:, 2:]], axis=1)


def bench_shipped(report: Report, data: Path, backbones: BackbonePool) -> None:
    """Measure the published NanoDet-g on COCO, to check that the network is converted correctly."""
    test = read_set(data, "coco256_test", "image-detection")
    shipped, truths = Shipped(backbones), truths_of(test)
    found = [shipped.detect(test.open(digest, 416)) for digest, _ in truths]
    score, interval = mean_precision(found, list(truths.values()), test.labels)
    report.add("NanoDet-g as shipped, COCO: AP50", score, "", Bar(0.43), None, interval)


@dataclass(frozen=True)
class Boxes:
    """A detection dataset: training images with their features, and test images."""

    name: str
    algorithm: str
    train: PictureSet
    test: PictureSet
    data: VisionData
    backbones: BackbonePool

    def drawn(self, count: int, seed: int) -> VisionData:
        """Draw `count` of the training images at random."""
        whole = self.data.pictures.pictures
        rng = np.random.default_rng(seed)
        chosen = [whole[place] for place in rng.permutation(len(whole))[:count]]
        digests = [picture.digest for picture in chosen]
        features = self.data.features
        assert isinstance(features, CachedFeatures)
        return VisionData(
            replace(self.data.pictures, pictures=chosen),
            features.of(digests),
            lambda at, side: self.train.open(digests[at], side),
        )

    def copied(self, data: VisionData) -> VisionData:
        """Add the features of the augmented copies that a training uses by default."""
        assert isinstance(data.features, CachedFeatures)
        copies = default_copies(len(data.pictures.pictures))
        if rules_of(self.algorithm).is_tiled or not copies:
            return data
        return replace(data, features=data.features.copied(copies))

    def trained(self, data: VisionData, seed: int) -> tuple[FittedVision, TrainedVision, float]:
        """Train a detector; return the result, the model and the elapsed seconds."""
        start = time.perf_counter()
        fitted, model, _ = run_training(
            "image-detection", data, self.backbones, algorithm=self.algorithm, seed=seed
        )
        seconds = time.perf_counter() - start
        say(f"{self.name}, {len(data.pictures.pictures)} images: {seconds:.0f} s")
        return fitted, model, seconds

    def asked(self, model: TrainedVision) -> tuple[list[list[Found]], list[list[Example]]]:
        """Return the objects that a model detects in the test images, and the true boxes."""
        truths = truths_of(self.test)
        return ask(model, self.test, list(truths)), list(truths.values())


def read_boxes(data: Path, backbones: BackbonePool, name: str, algorithm: str) -> Boxes:
    """Read a detection set and compute its features."""
    kind = "image-detection"
    train, test = read_set(data, f"{name}_train", kind), read_set(data, f"{name}_test", kind)
    pictures = boxed_pictures(train.examples, train.labels)
    digests = [picture.digest for picture in pictures.pictures]
    features = CachedFeatures(extractor_for(kind, algorithm, backbones), train, digests)
    given = VisionData(pictures, features, lambda at, side: train.open(digests[at], side))
    return Boxes(name, algorithm, train, test, given, backbones)


def bench_detection(report: Report, boxes: Boxes, bar: Bar) -> TrainedVision:
    """Report AP50 of a detector trained on a whole archive, and F1 at the card's threshold."""
    start = time.process_time()
    data = boxes.copied(boxes.data)
    fitted, model, _ = boxes.trained(data, 0)
    seconds = time.process_time() - start
    found, truths = boxes.asked(model)
    score, interval = mean_precision(found, truths, boxes.train.labels)
    shipped = Shipped(boxes.backbones)
    plain = [shipped.detect(boxes.test.open(digest, 416)) for digest, _ in truths_of(boxes.test)]
    peer, _ = mean_precision(plain, truths, [None])
    named = ("NanoDet as shipped, any label", round(peer, 3))
    title = f"{boxes.name}, {boxes.algorithm}"
    report.add(f"{title}: AP50", score, "", bar, named, interval)
    report.add(f"{title}: training, CPU", seconds, "s")
    gap, best = threshold_gap(found, truths, fitted.card["threshold"])
    peer_best = ("best F1 on the test", round(best, 3))
    report.add(f"{title}: F1 lost at the suggested threshold", gap, "", ceiling(0.03), peer_best)
    return model


def bench_draws(
    report: Report,
    boxes: Boxes,
    count: int,
    bar: Bar | None,
    *,
    draws: int = DRAWS,
    most_seconds: float | None = None,
    peer: str | None = None,
) -> None:
    """Report AP50 of detectors trained on `count` images, and the time of their training.

    Args:
        report: receives the figures.
        boxes: the detection dataset.
        count: number of images per draw.
        bar: limit of the AP50, averaged over labels and draws.
        draws: number of draws.
        most_seconds: limit of the mean processor time, augmented copies included; None for no
            limit.
        peer: name for the published NanoDet in the report; None if it is not measured.
    """
    mine, shipped, costs = [], [], []
    for seed in range(draws):
        start = time.process_time()
        data = boxes.copied(boxes.drawn(count, seed))
        _, model, _ = boxes.trained(data, seed)
        costs.append(time.process_time() - start)
        pictures = data.pictures.pictures
        used = {known.label for picture in pictures for known in picture.boxes}
        labels = [data.pictures.labels[label] for label in sorted(used)]
        found, truths = boxes.asked(model)
        mine.append(mean_precision(found, truths, labels, 1)[0])
        if peer is not None:
            own = Shipped(boxes.backbones)
            plain = [
                own.detect(boxes.test.open(digest, 416)) for digest, _ in truths_of(boxes.test)
            ]
            shipped.append(mean_precision(plain, truths, labels, 1)[0])
        say(f"draw {seed}: {mine[-1]:.3f} in {costs[-1]:.0f} CPU s")
    title = f"{boxes.name}, {count} images"
    named = None if peer is None else (peer, round(float(np.mean(shipped)), 3))
    report.add(f"{title}: AP50", float(np.mean(mine)), "", bar, named, spread(mine))
    limit = None if most_seconds is None else ceiling(most_seconds)
    report.add(f"{title}: training, CPU", float(np.mean(costs)), "s", limit)


def threshold_gap(
    found: list[list[Found]], truths: list[list[Example]], threshold: float | None
) -> tuple[float, float]:
    """Return how much lower F1 is at `threshold` than at the best threshold, and the best F1."""
    labels = {example.label for truth in truths for example in truth}
    labels |= {label for answers in found for label, _, _ in answers}
    hits = [
        hit
        for label in sorted(labels)
        for answers, truth in zip(found, truths, strict=True)
        for hit in label_hits(answers, truth, label)[0]
    ]
    count = sum(map(len, truths))
    scores = np.array([score for score, _ in hits])
    right = np.array([hit for _, hit in hits])

    def f1(least: float) -> float:
        kept = scores >= least
        return float(2 * right[kept].sum() / (kept.sum() + count))

    best = max(f1(least) for least in np.unique(scores))
    return (1.0 if threshold is None else best - f1(threshold)), best
