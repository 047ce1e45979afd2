"""Provides evaluation texts with their vectors, trains on them, and scores with intervals.

The parts of bench/bench_text.py use this module.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from bench.report import say
from chalicelib.engines import metrics
from chalicelib.engines.interface import TextFitOptions, TextTrainingSet
from chalicelib.engines.text import fit as training
from chalicelib.engines.text.background import background_texts
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.encoding.encoders import load_encoder
from chalicelib.engines.text.encoding.interface import Encoder
from chalicelib.engines.text.encoding.label_phrases import label_phrase
from chalicelib.engines.text.similarity.same_words import same_words

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
PROFILES: Mapping[str, tuple[str, ...]] = {
    "fast": ("bge",),
    "accurate": ("bge", "mpnet"),
}
"""Encoders of English models, by profile."""
LANGUAGES: Mapping[str, tuple[str, ...]] = {"fast": ("use",), "accurate": ("e5", "use")}
"""Encoders of models of other languages, by profile."""
THREADS = 2
RESAMPLES = 1_000
"""Number of resamples of the bootstrap."""


@dataclass(frozen=True)
class Embedded:
    """Texts with labels and vectors."""

    texts: list[str]
    labels: list[str]
    blocks: dict[str, np.ndarray]

    def at(self, places: Sequence[int]) -> Embedded:
        """Return only the texts at the indexes `places`."""
        chosen = np.array(places, np.int64)
        blocks = {name: block[chosen] for name, block in self.blocks.items()}
        texts, labels = ([part[place] for place in places] for part in (self.texts, self.labels))
        return Embedded(texts, labels, blocks)

    def within(self, names: Sequence[str]) -> Embedded:
        """Return the same texts with only the vectors of the encoders `names`."""
        return Embedded(self.texts, self.labels, {name: self.blocks[name] for name in names})


@dataclass(frozen=True)
class Score:
    """A metric with its 95 % bootstrap interval over the test texts."""

    value: float
    interval: tuple[float, float]


class Embedder:
    """Reads evaluation files, and embeds their texts once for each version of an encoder."""

    def __init__(self, data: Path, models: Path) -> None:
        self.data = data
        self.models = models
        self._encoders: dict[str, Encoder] = {}
        self.own: dict[str, tuple[list[str], list[str]]] = {}
        """Texts and labels that are not from a file of the folder, by name."""

    def encoder(self, name: str) -> Encoder:
        """Return an installed encoder, loaded at its first use."""
        if name not in self._encoders:
            self._encoders[name] = load_encoder(self.models, name)
        return self._encoders[name]

    def rows(self, name: str) -> tuple[list[str], list[str]]:
        """Return texts and labels of a file in the folder `text`."""
        if name in self.own:
            return self.own[name]
        with (self.data / "text" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        return [row["text"] for row in rows], [row["label"] for row in rows]

    def read(self, name: str, encoders: Sequence[str]) -> Embedded:
        """Read and embed a file of the folder `text` with the columns label and text."""
        texts, labels = self.rows(name)
        return Embedded(texts, labels, self.embed(texts, name, encoders))

    def embed(self, texts: list[str], name: str, encoders: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors by each encoder, float32, shape (texts, dims). Vectors are cached."""
        return {encoder: self._block(self.encoder(encoder), texts, name) for encoder in encoders}

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

    def examples(self, data: Embedded, name: str, *, rejects: bool = False) -> TextTrainingSet:
        """Return a training set for the engine. `rejects` adds background (out-of-scope) texts."""
        others = background_texts()
        names = list(dict.fromkeys(data.labels))
        places = {label: place for place, label in enumerate(names)}
        phrases = [label_phrase(label) or label for label in names]
        return TextTrainingSet(
            blocks=data.blocks,
            label_indexes=np.array([places[label] for label in data.labels]),
            label_names=names,
            digests=[sha256(text.encode()).digest() for text in data.texts],
            word_digests=[sha256(same_words(text).encode()).digest() for text in data.texts],
            label_blocks=self.embed(phrases, f"{name} labels", list(data.blocks)),
            background=self.embed(others, "background", list(data.blocks)) if rejects else None,
            encoder_digests={encoder: self.encoder(encoder).sha256 for encoder in data.blocks},
        )


def train(
    embedder: Embedder, name: str, encoders: Sequence[str], rate: float | None = None
) -> tuple[TrainedText, float]:
    """Train on the file `name`; return the model, and the seconds of the fit without embedding."""
    return train_on(embedder, name, embedder.read(name, encoders), rate)


def train_on(
    embedder: Embedder, name: str, data: Embedded, rate: float | None = None
) -> tuple[TrainedText, float]:
    """Train on texts with vectors; return the model, and the seconds of the fit."""
    examples = embedder.examples(data, name, rejects=rate is not None)
    start = time.perf_counter()
    model = training.fit(examples, TextFitOptions(out_of_domain_rate=rate), lambda epoch: None)
    seconds = time.perf_counter() - start
    counts = f"{len(examples.label_names)} labels, {len(examples.digests)} texts"
    say(f"{name}, {'+'.join(data.blocks)}: {counts} trained in {seconds:.1f} s")
    return model, seconds


def answers(model: TrainedText, test: Embedded) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities, float, shape (texts, labels), and true label indexes, int, (texts,)."""
    places = {label: place for place, label in enumerate(model.labels)}
    return model.predict(test.blocks), np.array([places[label] for label in test.labels])


def accuracy(model: TrainedText, test: Embedded) -> Score:
    """Return the fraction of test texts that are predicted correctly."""
    shares, truth = answers(model, test)
    return share_of((shares.argmax(axis=1) == truth).astype(float))


def calibration_error(model: TrainedText, test: Embedded) -> Score:
    """Return the expected calibration error over 15 bins with equal numbers of texts.

    The interval overestimates the error: resampling adds noise to each bin, and noise counts as
    error.
    """
    shares, truth = answers(model, test)

    def error(chosen: np.ndarray) -> float:
        return float(metrics.calibration_error(shares[chosen], truth[chosen]))

    return bootstrapped(error, len(truth), resamples=200)


def share_of(hits: np.ndarray) -> Score:
    """Return the mean of `hits`, float, shape (texts,), which has 1 for each correct text."""
    return bootstrapped(lambda chosen: float(hits[chosen].mean()), len(hits))


def bootstrapped(
    score: Callable[[np.ndarray], float], size: int, resamples: int = RESAMPLES
) -> Score:
    """Return a score with its percentile interval (bootstrap, Efron 1979)."""
    dice = np.random.default_rng(0)
    values = [score(dice.integers(size, size=size)) for _ in range(resamples)]
    low, high = np.percentile(values, [2.5, 97.5])
    return Score(score(np.arange(size)), (float(low), float(high)))


def area_under_curve(inside: np.ndarray, outside: np.ndarray) -> float:
    """Return the AUC: how often a score of `inside` is higher than a score of `outside`."""
    ranked = np.sort(inside)
    below = np.searchsorted(ranked, outside, "left") + np.searchsorted(ranked, outside, "right")
    return float(1.0 - below.mean() / (2 * len(ranked)))


def right(answered: Sequence[str], truth: Sequence[str]) -> float:
    """Return the fraction of the answers of a peer that are correct."""
    return sum(a == b for a, b in zip(answered, truth, strict=True)) / len(truth)
