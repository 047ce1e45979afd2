"""Accuracy, calibration, rejection and speed of the text engine on public data.

Run with `make bench-text` or `python -m tests.bench.bench_text [--data FOLDER]`. Vectors are kept
in build/bench, so a second run only trains. Prints a table, writes build/bench/text.json, and
fails when a bar is missed.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.interface import TextFitOptions, TextTrainingSet
from chalicelib.engines.text import training
from chalicelib.engines.text.classifier import TrainedText, dump
from chalicelib.engines.text.encoder import Encoder
from chalicelib.engines.text.encoders import is_installed, load_encoder
from chalicelib.engines.text.labels import label_phrase
from tests.bench.report import Bar, Report, say

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "bench"
ENCODERS = ("minilm", "use")
THREADS = 2
REJECTION_RATE = 0.05
WARM_PREDICTIONS = 300


@dataclass(frozen=True)
class Embedded:
    """One file of the evaluation data with its vectors."""

    texts: list[str]
    labels: list[str]
    blocks: dict[str, np.ndarray]


class Embedder:
    """Reads evaluation files and embeds their texts, once for every encoder version."""

    def __init__(self, data: Path, encoders: Sequence[Encoder]) -> None:
        self._data = data
        self.encoders = encoders

    def read(self, name: str) -> Embedded:
        """Read a file of the folder `text`, columns label and text, and embed it."""
        with (self._data / "text" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        texts = [row["text"] for row in rows]
        return Embedded(texts, [row["label"] for row in rows], self.embed(texts, name))

    def embed(self, texts: list[str], name: str) -> dict[str, np.ndarray]:
        """Vectors by encoder, float32, shape (texts, dims), from the cache where it has them."""
        return {encoder.name: self._block(encoder, texts, name) for encoder in self.encoders}

    def _block(self, encoder: Encoder, texts: list[str], name: str) -> np.ndarray:
        digest = sha256("\0".join([encoder.sha256, *texts]).encode("utf-8", "surrogatepass"))
        cached = BUILD / "vectors" / f"{digest.hexdigest()}.npy"
        if cached.exists():
            return np.load(cached, allow_pickle=False)
        start = time.perf_counter()
        vectors = encoder.encode(texts, threads=THREADS)
        seconds = time.perf_counter() - start
        say(f"{name}: {len(texts)} texts embedded by {encoder.name} in {seconds:.1f} s")
        cached.parent.mkdir(parents=True, exist_ok=True)
        np.save(cached, vectors, allow_pickle=False)
        return vectors


def train(embedder: Embedder, name: str, rate: float | None = None) -> tuple[TrainedText, float]:
    """Train on one file; the model and the seconds it took without embedding."""
    data = embedder.read(name)
    names = list(dict.fromkeys(data.labels))
    places = {label: place for place, label in enumerate(names)}
    phrases = [label_phrase(label) or label for label in names]
    examples = TextTrainingSet(
        blocks=data.blocks,
        label_indexes=np.array([places[label] for label in data.labels]),
        label_names=names,
        digests=[sha256(text.encode()).digest() for text in data.texts],
        label_blocks=embedder.embed(phrases, f"{name} labels"),
        encoder_digests={encoder.name: encoder.sha256 for encoder in embedder.encoders},
    )
    start = time.perf_counter()
    model = training.fit(examples, TextFitOptions(out_of_domain_rate=rate), lambda epoch: None)
    seconds = time.perf_counter() - start
    say(f"{name}: {len(names)} labels, {len(data.labels)} texts trained in {seconds:.1f} s")
    return model, seconds


def judge(model: TrainedText, test: Embedded) -> tuple[float, float]:
    """Accuracy and calibration error on a published test set."""
    places = {label: place for place, label in enumerate(model.labels)}
    truth = np.array([places[label] for label in test.labels])
    shares = model.predict(test.blocks)
    accuracy = float((shares.argmax(axis=1) == truth).mean())
    return accuracy, metrics.calibration_error(shares, truth)


def bench_banking(report: Report, embedder: Embedder) -> TrainedText:
    """BANKING77 with all examples, fast profile."""
    model, seconds = train(embedder, "banking77_train")
    accuracy, error = judge(model, embedder.read("banking77_test"))
    report.add(
        "BANKING77 full, fast: accuracy",
        accuracy,
        "",
        Bar(0.935),
        ("USE+ConveRT, published", 0.934),
    )
    report.add("BANKING77 full: calibration error", error, "", Bar(0.02, is_ceiling=True))
    report.add("BANKING77 full: fit and cross-validation", seconds, "s")
    report.add("BANKING77 full: artifact", len(dump(model)) / 1e6, "MB")
    return model


def bench_few_shot(report: Report, embedder: Embedder) -> None:
    """BANKING77 with ten and five examples a label, fast profile."""
    peers = {10: ("USE+ConveRT, published", 0.852), 5: ("USE+ConveRT, published", 0.778)}
    for shots, bar in ((10, 0.855), (5, 0.805)):
        model, _ = train(embedder, f"banking77_fewshot_train_{shots}")
        accuracy, _ = judge(model, embedder.read("banking77_fewshot_test"))
        report.add(f"BANKING77 {shots}-shot, fast: accuracy", accuracy, "", Bar(bar), peers[shots])


def bench_clinc(report: Report, embedder: Embedder) -> None:
    """CLINC150 with all examples, and its out-of-scope queries."""
    model, seconds = train(embedder, "clinc150_full_train", REJECTION_RATE)
    inside = embedder.read("clinc150_full_test")
    outside = embedder.read("clinc150_full_oos_test")
    accuracy, error = judge(model, inside)
    report.add(
        "CLINC150 full, fast: accuracy", accuracy, "", None, ("USE+ConveRT, published", 0.972)
    )
    report.add("CLINC150 full: calibration error", error, "", Bar(0.02, is_ceiling=True))
    report.add("CLINC150 full: fit and cross-validation", seconds, "s")
    report.add(
        "CLINC150 out of scope: recall",
        float(model.rejects(outside.blocks).mean()),
        "",
        Bar(0.90),
        ("BERT with out-of-scope training, published", 0.66),
    )
    rejected = float(model.rejects(inside.blocks).mean())
    report.add("CLINC150 in-domain rejected", rejected, "", Bar(0.06, is_ceiling=True))
    area = area_under_curve(model.energies(inside.blocks), model.energies(outside.blocks))
    report.add("CLINC150 out of scope: AUROC", area, "", Bar(0.975))


def area_under_curve(inside: np.ndarray, outside: np.ndarray) -> float:
    """Share of pairs in which the in-domain energy, float (texts,), is the higher one."""
    ranked = np.sort(inside)
    below = np.searchsorted(ranked, outside, "left") + np.searchsorted(ranked, outside, "right")
    return float(1.0 - below.mean() / (2 * len(ranked)))


def bench_speed(report: Report, embedder: Embedder, model: TrainedText) -> None:
    """One warm prediction at a time: encoders and head on one thread."""
    texts = embedder.read("banking77_test").texts[:WARM_PREDICTIONS]

    def predict(text: str) -> None:
        vectors = {encoder.name: encoder.encode([text]) for encoder in embedder.encoders}
        model.predict(vectors)

    durations = [_milliseconds(predict, text) for text in texts[:20] + texts][20:]
    median, slow = np.percentile(durations, [50, 99])
    report.add("warm prediction, fast: p50", float(median), "ms", Bar(5.0, is_ceiling=True))
    report.add("warm prediction, fast: p99", float(slow), "ms")


def _milliseconds(call: Callable[[str], None], text: str) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call(text)
    return 1_000 * (time.perf_counter() - start)


def main() -> int:
    """Run every part; the exit status is 0 when all bars hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / ".models")
    arguments = parser.parse_args()
    if not (arguments.data / "text").is_dir():
        print(f"The evaluation data is absent: {arguments.data} has no folder text. Use --data.")
        return 2
    missing = [name for name in ENCODERS if not is_installed(arguments.models, name)]
    if missing:
        print(f"Not installed: {', '.join(missing)}. Run: python -m infra.models install")
        return 2
    embedder = Embedder(arguments.data, [load_encoder(arguments.models, name) for name in ENCODERS])
    report = Report("Text engine: MiniLM + USE, linear head")
    model = bench_banking(report, embedder)
    bench_few_shot(report, embedder)
    bench_clinc(report, embedder)
    bench_speed(report, embedder, model)
    return report.finish(BUILD / "text.json")


if __name__ == "__main__":
    sys.exit(main())
