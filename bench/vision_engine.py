"""Measures accuracy of the vision engines on evaluation data, each with a peer in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from bench.report import Bar, Report, say
from bench.vision_data import (
    THREADS,
    CachedFeatures,
    PictureSet,
    class_pictures,
    multi_label_pictures,
    read_set,
)
from chalicelib.domain.common.limits import DEFAULT_EPOCHS
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.domain.models.training_pictures import TrainingPictures
from chalicelib.engines import metrics
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.interface import (
    FittedVision,
    TrainedVision,
    VisionData,
    VisionOptions,
)
from chalicelib.engines.vision.registry import extractor_for, load, open_training

DRAWS = 5
PEER_INVERSES = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
PEER = "scikit-learn logistic regression, same features"
SUPER_CATEGORIES = {
    "person": ["person"],
    "vehicle": ["bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat"],
    "outdoor": ["traffic light", "fire hydrant", "stop sign", "parking meter", "bench"],
    "animal": [
        "bird",
        "cat",
        "dog",
        "horse",
        "sheep",
        "cow",
        "elephant",
        "bear",
        "zebra",
        "giraffe",
    ],
    "accessory": ["backpack", "umbrella", "handbag", "tie", "suitcase"],
    "sports": [
        "frisbee",
        "skis",
        "snowboard",
        "sports ball",
        "kite",
        "baseball bat",
        "baseball glove",
        "skateboard",
        "surfboard",
        "tennis racket",
    ],
    "kitchen": ["bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl"],
    "food": [
        "banana",
        "apple",
        "sandwich",
        "orange",
        "broccoli",
        "carrot",
        "hot dog",
        "pizza",
        "donut",
        "cake",
    ],
    "furniture": ["chair", "couch", "potted plant", "bed", "dining table", "toilet"],
    "electronic": ["tv", "laptop", "mouse", "remote", "keyboard", "cell phone"],
    "appliance": ["microwave", "oven", "toaster", "sink", "refrigerator"],
    "indoor": ["book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush"],
}
"""COCO's super-categories, from which the multi-label set is made."""


def run_training(
    dataset_type: str,
    data: VisionData,
    backbones: BackbonePool,
    *,
    algorithm: str = "",
    split_ratio: float = 1.0,
    seed: int = 0,
) -> tuple[FittedVision, TrainedVision, list[dict]]:
    """Train a model, by default on all images; return result, model and learning curve."""
    options = VisionOptions(
        epochs=DEFAULT_EPOCHS[dataset_type],
        learning_rate=0.001,
        has_named_epochs=False,
        split_ratio=split_ratio,
        algorithm=algorithm,
        seed=seed,
        threads=THREADS,
    )
    training = open_training(dataset_type, data, options, backbones)
    curve = []
    while (step := training.step()) is not None:
        if step.record is not None:
            curve.append(step.record)
    fitted = training.finish(a_model(dataset_type, algorithm), datetime(2026, 1, 1, tzinfo=UTC))
    return fitted, load(fitted.artifact, backbones), curve


def a_model(dataset_type: str, algorithm: str) -> Model:
    """Return a model record with fixed values. A training copies them into the model card."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Model(
        account_id="A" * 26,
        model_id="B" * 26,
        name="bench",
        dataset_id=1,
        family="vision",
        type=dataset_type,
        language="N/A",
        status="RUNNING",
        progress=0,
        created_at=now,
        updated_at=now,
        request=TrainRequest(algorithm=algorithm or None),
    )


def vision_data(
    source: PictureSet, pictures: TrainingPictures, dataset_type: str, backbones: BackbonePool
) -> VisionData:
    """Combine images and their features into the input of a training."""
    extractor = extractor_for(dataset_type, None, backbones)
    digests = [picture.digest for picture in pictures.pictures]
    features = CachedFeatures(extractor, source, digests)
    return VisionData(pictures, features, lambda at, side: source.open(digests[at], side))


def probabilities(model: TrainedVision, source: PictureSet, digests: Sequence[bytes]) -> np.ndarray:
    """Predict every image; return probabilities, float64, shape (images, labels)."""
    rows = []
    for digest in digests:
        answer = {a.label: a.probability for a in model.predict(source.open(digest, 416))}
        rows.append([answer[label] for label in model.labels])
    return np.array(rows)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a fraction."""
    found = metrics.wilson_interval(round(share * count), count)
    return found.low, found.high


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of five values, by Student's t distribution."""
    middle, error = float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return middle - 2.776 * error, middle + 2.776 * error


def draw(source: PictureSet, per_label: int, seed: int) -> PictureSet:
    """Draw `per_label` examples of each label at random."""
    rng = np.random.default_rng(seed)
    labels = np.array([example.label for example in source.examples])
    keep: list[int] = []
    for label in source.labels:
        places = np.flatnonzero(labels == label)
        keep += sorted(rng.permutation(places)[:per_label].tolist())
    return source.only(keep, source.name)


def bench_image(
    report: Report, data: Path, backbones: BackbonePool, name: str, sizes: dict[int, Bar | None]
) -> None:
    """Report the accuracy on images by number of examples per label, averaged over draws."""
    train = read_set(data, f"{name}_train", "image")
    test = read_set(data, f"{name}_test", "image")
    all_train = vision_data(train, class_pictures(train.examples, train.labels), "image", backbones)
    rows = {
        example.digest: np.array(all_train.features.row(place), np.float32)
        for place, example in enumerate(train.examples)
    }
    tested = vision_data(test, class_pictures(test.examples, train.labels), "image", backbones)
    test_rows = np.stack(
        [np.array(tested.features.row(at), np.float32) for at in range(len(test.examples))]
    )
    truth = np.array([train.labels.index(example.label) for example in test.examples])
    for size, bar in sizes.items():
        mine, peer, errors = [], [], []
        for seed in range(DRAWS if size else 1):
            drawn = draw(train, size or len(train.examples), seed)
            pictures = class_pictures(drawn.examples, train.labels)
            given = vision_data(train, pictures, "image", backbones)
            start = time.perf_counter()
            _, model, _ = run_training("image", given, backbones, seed=seed)
            say(f"{name}, {len(drawn.examples)} images: {time.perf_counter() - start:.1f} s")
            shares = from_rows(model, test_rows)
            mine.append(float((shares.argmax(1) == truth).mean()))
            errors.append(metrics.calibration_error(shares, truth))
            wanted = [train.labels.index(e.label) for e in drawn.examples]
            peer.append(_peer_accuracy(rows, drawn, wanted, test_rows, truth))
        interval = spread(mine) if len(mine) > 1 else wilson(mine[0], len(truth))
        what = f"{size} a label" if size else "all"
        mean = float(np.mean(mine))
        peer_pair = (PEER, round(float(np.mean(peer)), 4))
        report.add(f"{name}, {what}: accuracy", mean, "", bar, peer_pair, interval)
        report.add(f"{name}, {what}: calibration error", float(np.mean(errors)))


def from_rows(model: TrainedVision, rows: np.ndarray) -> np.ndarray:
    """Predict from the features `rows`; return probabilities, float64, shape (images, labels)."""
    answer: Callable[[np.ndarray], np.ndarray] = model.probabilities
    return np.stack([answer(row) for row in rows])


def _peer_accuracy(
    rows: dict[bytes, np.ndarray],
    drawn: PictureSet,
    wanted: list[int],
    test_rows: np.ndarray,
    truth: np.ndarray,
) -> float:
    """Return the accuracy of the peer: logistic regression on the features `rows`."""
    peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    peer.fit(np.stack([rows[example.digest] for example in drawn.examples]), wanted)
    return float((peer.predict(test_rows) == truth).mean())


def super_set(source: PictureSet) -> PictureSet:
    """Replace COCO's boxes by image labels: the 12 super-categories of COCO's 80 labels."""
    above = {label: top for top, below in SUPER_CATEGORIES.items() for label in below}
    seen, examples = set(), []
    for example in source.examples:
        key = (example.digest, above[example.label])
        if key not in seen:
            seen.add(key)
            examples.append(type(example)(key[1], example.name, example.digest, None))
    return PictureSet(source.name, examples, source.files)


def bench_multi_label(report: Report, data: Path, backbones: BackbonePool) -> None:
    """Report the mean average precision of type image-multi-label."""
    train = super_set(read_set(data, "coco256_train", "image-detection"))
    test = super_set(read_set(data, "coco256_test", "image-detection"))
    labels = list(SUPER_CATEGORIES)
    kind = "image-multi-label"
    given = vision_data(train, multi_label_pictures(train.examples, labels), kind, backbones)
    start = time.perf_counter()
    fitted, model, _ = run_training(kind, given, backbones)
    say(f"multi-label: trained in {time.perf_counter() - start:.1f} s")
    asked = vision_data(test, multi_label_pictures(test.examples, labels), kind, backbones)
    rows = _rows(asked)
    shares, truth = from_rows(model, rows), _targets(asked, len(labels))
    score, interval = _mean_precision(truth, shares)
    peer = _multi_label_peer(_rows(given), _targets(given, len(labels)))
    peer_score, _ = _mean_precision(truth, peer.decision_function(rows))
    report.add(
        "COCO 12 super-categories: mAP",
        score,
        "",
        Bar(0.70),
        (f"{PEER}, C by folds", round(peer_score, 4)),
        interval,
    )
    gap = score - peer_score
    report.add("COCO 12 super-categories: mAP above the peer's", gap, "", Bar(-0.003))
    thresholds = fitted.card["engine"]["thresholds"]
    guess = shares >= np.array([thresholds.get(label, 1.0) for label in labels])
    hits = float((guess & truth).sum())
    report.add(
        "COCO 12 super-categories: micro F1 at the thresholds",
        2 * hits / float(guess.sum() + truth.sum()),
    )


def _multi_label_peer(rows: np.ndarray, truth: np.ndarray) -> Pipeline:
    """Fit logistic regression with the C that has the best out-of-fold mean average precision."""

    def peer(inverse: float) -> Pipeline:
        head = OneVsRestClassifier(LogisticRegression(C=inverse, max_iter=1000))
        return make_pipeline(StandardScaler(), head)

    def score(inverse: float) -> float:
        found = np.zeros(truth.shape)
        for trained, held in KFold(5, shuffle=True, random_state=0).split(rows):
            fitted = peer(inverse).fit(rows[trained], truth[trained])
            found[held] = fitted.decision_function(rows[held])
        return _mean_precision(truth, found, rounds=1)[0]

    return peer(max(PEER_INVERSES, key=score)).fit(rows, truth)


def _rows(data: VisionData) -> np.ndarray:
    """Return the features of the unchanged images, float32, shape (images, inputs)."""
    count = len(data.pictures.pictures)
    return np.stack([np.array(data.features.row(place), np.float32) for place in range(count)])


def _targets(data: VisionData, labels: int) -> np.ndarray:
    """Return whether each image has each label, bool, shape (images, labels)."""
    found = np.zeros((len(data.pictures.pictures), labels), bool)
    for place, picture in enumerate(data.pictures.pictures):
        found[place, list(picture.labels)] = True
    return found


def _mean_precision(
    truth: np.ndarray, shares: np.ndarray, rounds: int = 500
) -> tuple[float, tuple[float, float]]:
    """Return the mean average precision over labels, with a bootstrap interval over images."""

    def score(keep: np.ndarray) -> float:
        wanted, given = truth[keep], shares[keep]
        known = [at for at in range(truth.shape[1]) if wanted[:, at].any()]
        return float(np.mean([average_precision_score(wanted[:, a], given[:, a]) for a in known]))

    rng = np.random.default_rng(0)
    draws = [score(rng.integers(0, len(truth), len(truth))) for _ in range(rounds)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return score(np.arange(len(truth))), (float(low), float(high))
