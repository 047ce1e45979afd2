"""Measures long texts: articles, sentences after unrelated words, and the time for 300 words.

The folder `long` has the articles and a README. Nothing that ships is fitted on the articles.
"""

from __future__ import annotations

import csv
import random
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench import peers
from bench.report import Bar, Report
from bench.text_data import PROFILES, Embedded, Embedder, right
from chalicelib.domain.datasets.windows import split_texts
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.text import fit as training
from chalicelib.engines.text.classifier import TrainedText
from chalicelib.engines.text.windows.training_vectors import TrainingVectors

DRAWS, LABELS, TRAINED, ASKED, WORDS_BEFORE = 3, 20, 20, 30, 170
BELOW_SVM, OF_ALONE = 0.005, 0.85
ROUNDS = 30
Rows = tuple[list[str], list[str]]


class _Rows:
    """The vectors of windows (parts of long texts), in the form that a training reads."""

    def __init__(self, vectors: np.ndarray) -> None:
        self._vectors = vectors

    def rows(self, first: int, last: int) -> np.ndarray:
        """Return the vectors of windows `first` to `last` - 1, float32, shape (windows, dims)."""
        return self._vectors[first:last]


def bench_long(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Report accuracy on articles and sentences, also of an SVM, and the time for 300 words."""
    del profiles
    train, test = (_articles(embedder, part) for part in ("train", "test"))
    svm = right(peers.tfidf_svm(*train, test[0]), test[1])
    found = _accuracy(embedder, "BBC articles", train, test)
    report.add("BBC articles: accuracy", found, "", Bar(svm - BELOW_SVM), ("TF-IDF + SVM", svm))
    articles = [text.split() for text in train[0] + test[0]]
    for seed in range(DRAWS):
        short = _sentences(embedder, seed)
        late = tuple((_behind(articles, rows[0], seed), rows[1]) for rows in short)
        alone = _accuracy(embedder, f"sentences {seed}", *short)
        found = _accuracy(embedder, f"late evidence {seed}", *late)
        svm = right(peers.tfidf_svm(*late[0], late[1][0]), late[1][1])
        name = f"evidence after word {WORDS_BEFORE}, draw {seed}: accuracy over the sentence alone"
        report.add(name, found / alone, "", Bar(OF_ALONE), ("TF-IDF + SVM", svm / alone))
    _processor_time(report, embedder, " ".join(articles[0] * 5).split())


def _articles(embedder: Embedder, part: str) -> Rows:
    path = embedder.data / "long" / f"bbc_{part}.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def _sentences(embedder: Embedder, seed: int) -> tuple[Rows, Rows]:
    """Draw training and test texts of twenty labels of BANKING77."""
    dice = random.Random(seed)
    chosen: list[str] = []
    drawn = []
    for part, count in (("train", TRAINED), ("test", ASKED)):
        texts, labels = embedder.rows(f"banking77_{part}")
        of_label: dict[str, list[str]] = {}
        for text, label in zip(texts, labels, strict=True):
            of_label.setdefault(label, []).append(text)
        rich = sorted(label for label in of_label if len(of_label[label]) >= ASKED)
        chosen = chosen or sorted(dice.sample(rich, LABELS))
        pairs = [(text, label) for label in chosen for text in dice.sample(of_label[label], count)]
        drawn.append(([text for text, _ in pairs], [label for _, label in pairs]))
    return drawn[0], drawn[1]


def _behind(articles: Sequence[Sequence[str]], texts: Sequence[str], seed: int) -> list[str]:
    """Put words of articles before each text, so that a label depends on the last words."""
    dice = random.Random(f"{seed} {len(texts)}")
    found = []
    for text in texts:
        words: list[str] = []
        while len(words) < WORDS_BEFORE:
            words += dice.choice(articles)
        first = dice.randrange(len(words) - WORDS_BEFORE + 1)
        found.append(" ".join([*words[first : first + WORDS_BEFORE], text]))
    return found


def _accuracy(embedder: Embedder, name: str, train: Rows, test: Rows) -> float:
    """Train as the service does with the fast profile; return the accuracy on the test texts."""
    [encoder] = PROFILES["fast"]
    split = split_texts(train[0])
    windows = embedder.embed(list(split.windows), f"{name} windows", [encoder])
    names = list(dict.fromkeys(train[1]))
    places = [names.index(label) for label in train[1]]
    vectors = TrainingVectors(split, places, len(names), encoder, lambda _: _Rows(windows[encoder]))
    data = Embedded(train[0], train[1], {encoder: vectors.of_texts(encoder)})
    examples = replace(embedder.examples(data, name), reading=vectors.reading)
    model = training.fit(examples, TextFitOptions(), lambda epoch: None)
    return right(_answers(embedder, model, encoder, name, test[0]), test[1])


def _answers(
    embedder: Embedder, model: TrainedText, encoder: str, name: str, texts: list[str]
) -> list[str]:
    def encode(parts: Sequence[str]) -> dict[str, np.ndarray]:
        return embedder.embed(list(parts), f"{name} test windows", [encoder])

    shares = model.predict(model.read(texts, encode))
    return [model.labels[place] for place in shares.argmax(axis=1).tolist()]


def _processor_time(report: Report, embedder: Embedder, words: Sequence[str]) -> None:
    """Compare processor times for texts of 300 words: read in windows, and cut at 128 tokens."""
    encoder = embedder.encoder(PROFILES["fast"][0])
    text = " ".join(words[:300])
    spent: dict[int, list[float]] = {0: [], 1: []}
    for _ in range(ROUNDS):
        for way, parts in enumerate(([text], list(split_texts([text]).windows))):
            start = time.process_time()
            encoder.encode(parts)
            spent[way].append(time.process_time() - start)
    ratio = float(np.median(spent[1]) / np.median(spent[0]))
    report.add("300 words: processor time over the cut text", ratio, "", Bar(4.0, is_ceiling=True))
