"""Measures accuracy, calibration and speed of the vision engines, each compared with a peer.

Run with `make bench-vision` or `python -m bench.bench_vision [--data FOLDER] [--only NAME] [--plot]
[--base COMMIT]`. The data is public. Features are cached in build/bench, so a second run only
trains. Prints a table, writes build/bench/vision.json, and fails if a value misses its limit.
`--plot` writes learning curves, a confusion matrix and images with found boxes to
build/bench/plots. `--base` only compares detectors of an earlier commit with detectors of the
present commit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import vision_base, vision_boxes, vision_engine, vision_plots, vision_service
from bench.bench_http import ceiling, milliseconds, quantile
from bench.report import Bar, Report, say
from bench.vision_data import BUILD, ROOT, read_set
from chalicelib.domain.common.limits import MAX_PREDICTED_IMAGE_BYTES
from chalicelib.engines.vision import prebuilt
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET, BackbonePool
from chalicelib.engines.vision.interface import TrainedVision
from chalicelib.formats.pictures.reading import read_picture
from infra.models import default_directory

WARM_UP, CALLS = 3, 20


@dataclass
class Bench:
    """The data, the networks and the report that all sections of this benchmark use."""

    report: Report
    data: Path
    backbones: BackbonePool
    plots: vision_plots.Plots | None


def bench_dogcat(bench: Bench) -> None:
    """Measure the classification of dogs and cats."""
    sizes = {5: None, 10: Bar(0.97), 0: None}
    vision_engine.bench_image(bench.report, bench.data, bench.backbones, "dogcat", sizes)


def bench_grocery(bench: Bench) -> None:
    """Measure the classification of 81 kinds of groceries."""
    sizes = {5: None, 20: Bar(0.8)}
    vision_engine.bench_image(bench.report, bench.data, bench.backbones, "grocery81", sizes)


def bench_multi_label(bench: Bench) -> None:
    """Measure multi-label models of COCO's super-categories."""
    vision_engine.bench_multi_label(bench.report, bench.data, bench.backbones)


def bench_raccoon(bench: Bench) -> None:
    """Measure raccoon detectors trained on all or on twenty images; time their predictions."""
    boxes = vision_boxes.read_boxes(bench.data, bench.backbones, "raccoon", "object-detection")
    model = vision_boxes.bench_detection(bench.report, boxes, Bar(0.80))
    files = list(boxes.test.files.values())
    times = engine_times(model, files)
    bench.report.add("detect, engine: p50", quantile(times, 0.5), "ms", ceiling(250))
    if bench.plots is not None:
        bench.plots.boxes("raccoon", model, files[:6])
    vision_boxes.bench_draws(bench.report, boxes, 20, Bar(0.85), draws=5, most_seconds=20)


def bench_coco(bench: Bench) -> None:
    """Measure detectors trained on few COCO images. Their network was pretrained on COCO."""
    boxes = vision_boxes.read_boxes(bench.data, bench.backbones, "coco256", "object-detection")
    peer = "NanoDet as shipped, which saw such photographs"
    for count, bar in ((30, Bar(0.20)), (100, Bar(0.30))):
        vision_boxes.bench_draws(bench.report, boxes, count, bar, peer=peer)


def bench_bccd(bench: Bench) -> None:
    """Measure detectors of blood cells, trained on 20, on 60 and on all images."""
    boxes = vision_boxes.read_boxes(bench.data, bench.backbones, "bccd", "object-detection")
    vision_boxes.bench_draws(bench.report, boxes, 20, Bar(0.72))
    vision_boxes.bench_draws(bench.report, boxes, 60, Bar(0.80))
    vision_boxes.bench_detection(bench.report, boxes, Bar(0.89))


def bench_shelf(bench: Bench) -> None:
    """Measure detectors of packages on shelves."""
    boxes = vision_boxes.read_boxes(bench.data, bench.backbones, "shelf", "retail-execution")
    model = vision_boxes.bench_detection(bench.report, boxes, Bar(0.95))
    files = list(boxes.test.files.values())
    times = engine_times(model, files[:5])
    bench.report.add("retail-execution, engine: p50", quantile(times, 0.5), "ms", ceiling(1800))
    if bench.plots is not None:
        bench.plots.boxes("shelf", model, files[:2])


def bench_shipped(bench: Bench) -> None:
    """Measure the published NanoDet, which predicts the labels of COCO."""
    vision_boxes.bench_shipped(bench.report, bench.data, bench.backbones)


def bench_prebuilt(bench: Bench) -> None:
    """Measure MultiLabelImageClassifier on COCO, and the speed of three other prebuilt models."""
    folder = default_directory() / "prebuilt"

    def model(name: str) -> TrainedVision:
        return prebuilt.load((folder / name / "artifact.npz").read_bytes(), bench.backbones)

    test = read_set(bench.data, "coco256_test", "image-detection")
    found = model("MultiLabelImageClassifier")
    digests = list(test.files)
    shares = vision_engine.probabilities(found, test, digests)
    truth = np.zeros(shares.shape, bool)
    for example in test.examples:
        truth[digests.index(example.digest), list(found.labels).index(example.label)] = True
    score, interval = vision_engine._mean_precision(truth, shares)
    bench.report.add("MultiLabelImageClassifier, COCO: mAP", score, "", None, None, interval)
    photos = [vision_service.large_photo(content) for content in list(test.files.values())[:3]]
    for name in ("GeneralImageClassifier", "FoodImageClassifier", "SceneClassifier"):
        times = engine_times(model(name), photos)
        bench.report.add(
            f"{name}, 12-MP JPEG, engine: p50", quantile(times, 0.5), "ms", ceiling(60)
        )


def engine_times(model: TrainedVision, files: Sequence[bytes]) -> list[float]:
    """Return the times of decoding and predicting in this process on one core, in milliseconds."""

    def answer(content: bytes) -> None:
        model.predict(read_picture(content, MAX_PREDICTED_IMAGE_BYTES, model.least_side))

    for content in files[:WARM_UP]:
        answer(content)
    return [milliseconds(lambda c=c: answer(c)) for c in (*files,) * (1 + CALLS // len(files))]


def bench_plots(bench: Bench) -> None:
    """Draw the learning curve and confusion matrix of a training with a held-out set."""
    if bench.plots is not None:
        bench.plots.training(bench.data, bench.backbones)


def bench_service(bench: Bench) -> None:
    """Measure the service over HTTP."""
    with vision_service.running(bench.report, bench.data) as service:
        for name, section in vision_service.SECTIONS.items():
            say(f"over HTTP: {name}")
            section(service)


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "dogcat": bench_dogcat,
    "grocery": bench_grocery,
    "multi-label": bench_multi_label,
    "shipped": bench_shipped,
    "prebuilt": bench_prebuilt,
    "raccoon": bench_raccoon,
    "bccd": bench_bccd,
    "coco": bench_coco,
    "shelf": bench_shelf,
    "plots": bench_plots,
    "service": bench_service,
}


def main() -> int:
    """Run the sections; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=SECTIONS, action="append", metavar="NAME")
    parser.add_argument("--plot", action="store_true", help="draw PNG files")
    parser.add_argument("--base", metavar="COMMIT", help="compare detectors with this commit's")
    parser.add_argument("--seeds", type=int, default=1, help="trainings per dataset with --base")
    arguments = parser.parse_args()
    backbones = BackbonePool(default_directory())
    if not (arguments.data / "vision").is_dir():
        print(f"The evaluation data is absent: {arguments.data} has no folder vision. Use --data.")
        return 2
    if not all(backbones.is_installed(name) for name in (LITE2, NANODET)):
        print("The backbones are not installed. Install them with: make models")
        return 2
    plots = vision_plots.Plots(BUILD / "plots") if arguments.plot else None
    bench = Bench(Report("Vision"), arguments.data, backbones, plots)
    names = arguments.only or list(SECTIONS)
    if arguments.base:
        vision_base.bench_base(bench.report, arguments.data, arguments.base, names, arguments.seeds)
        names = []
    for name in names:
        say(name)
        SECTIONS[name](bench)
    return bench.report.finish(BUILD / "vision.json")


if __name__ == "__main__":
    sys.exit(main())
