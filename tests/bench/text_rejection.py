"""What `multilingual-intent-ood` rejects, with the encoders that the service takes for it.

A first upload and a large one, asked the same 1,000 questions that belong to neither.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence

from tests.bench.report import Report
from tests.bench.text_data import LANGUAGES, ROOT, Embedder, share_of, train

RATE = 0.05
SAMPLE = ROOT / "chalicelib" / "assets" / "samples" / "shop_intents.csv"
OUTSIDE = "clinc150_full_oos_test"


def bench_rejection(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Share of unrelated questions that are answered with an empty list, by what was learnt."""
    for profile in profiles:
        _reject(report, embedder, profile, _take_sample(embedder, "sample_60", 5))
        _reject(report, embedder, profile, _take_sample(embedder, "sample_180", 15))
        _reject(report, embedder, profile, "clinc150_full_train")


def _reject(report: Report, embedder: Embedder, profile: str, name: str) -> None:
    """Train on one file and ask what is outside."""
    encoders = LANGUAGES[profile]
    model, _ = train(embedder, name, encoders, RATE)
    outside = embedder.read(OUTSIDE, encoders).blocks
    found = share_of(model.rejects(outside).astype(float))
    report.add(
        f"{name}, {profile}: unrelated texts rejected", found.value, "", interval=found.interval
    )


def _take_sample(embedder: Embedder, name: str, shots: int) -> str:
    """Give the bench a file with the first examples of each label of the shipped sample set."""
    by_label: dict[str, list[str]] = defaultdict(list)
    with SAMPLE.open(encoding="utf-8", newline="") as stream:
        for text, label in csv.reader(stream):
            by_label[label].append(text)
    rows = [(text, label) for label, texts in by_label.items() for text in texts[:shots]]
    embedder.own[name] = ([text for text, _ in rows], [label for _, label in rows])
    return name
