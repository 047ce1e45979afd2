"""Measures which texts English models reject. The answer for a rejected text is `[]`.

The models are trained on the shipped sample, on few examples of many labels, and without some
labels. Seeds decide which labels are left out. CLINC150 is measured in bench/text_intents.py.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bench.report import Bar, Report
from bench.text_data import PROFILES, ROOT, Embedded, Embedder, area_under_curve, train
from chalicelib.engines.metrics import calibration_error
from chalicelib.engines.text.classifier import TrainedText

RATE = 0.05
SAMPLE = ROOT / "chalicelib" / "assets" / "samples" / "shop_intents.csv"
OUTSIDE = "clinc150_full_oos_test"
FEW = "banking77_fewshot_train_10"
ASKED = "banking77_fewshot_test"
FOLDS = 5
DRAWS = (11, 12, 13)
WITHHELD = 27
IN_DOMAIN = (Bar(0.03), Bar(0.08, is_ceiling=True))
# With 12 texts a label, probabilities are cautious.
CALIBRATION = Bar(0.15, is_ceiling=True)
Rows = list[tuple[str, str]]


def bench_rejection(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Report the rejected fractions of out-of-scope and of in-scope texts."""
    for profile in profiles:
        encoders = PROFILES[profile]
        _sample(report, embedder, profile, encoders)
        _first_texts(report, embedder, profile, encoders)
        _few_shot(report, embedder, profile, encoders)
        _withheld(report, embedder, profile, encoders)


def _sample(report: Report, embedder: Embedder, profile: str, encoders: Sequence[str]) -> None:
    """Cross-validate on the shipped sample; measure how many out-of-scope texts are rejected."""
    rows = _sample_rows()
    model = _trained(embedder, "sample_180", rows, encoders)
    outside = model.answer(embedder.read(OUTSIDE, encoders).blocks)
    is_sure = (outside.shares.max(axis=1) >= 0.9) & ~outside.is_rejected
    lost: list[bool] = []
    shares, truth = [], []
    for fold in range(FOLDS):
        kept = [row for place, row in enumerate(rows) if place % FOLDS != fold]
        asked = [row for place, row in enumerate(rows) if place % FOLDS == fold]
        part = _trained(embedder, f"sample fold {fold}", kept, encoders)
        found = part.answer(embedder.embed([text for text, _ in asked], "asked", encoders))
        lost += found.is_rejected.tolist()
        shares.append(found.shares)
        truth += [part.labels.index(label) for _, label in asked]
    name = f"sample of 180, {profile}"
    report.add(f"{name}: foreign rejected", float(outside.is_rejected.mean()), "", Bar(0.70))
    report.add(
        f"{name}: foreign kept at .9 or more",
        float(is_sure.mean()),
        "",
        Bar(0.02, is_ceiling=True),
    )
    report.add(f"{name}: own rejected, folds", float(np.mean(lost)), "", Bar(0.06, is_ceiling=True))
    report.add(f"{name}: own rejected at least", float(np.mean(lost)), "", IN_DOMAIN[0])
    error = calibration_error(np.concatenate(shares), np.array(truth))
    report.add(f"{name}: calibration error, folds", float(error), "", CALIBRATION)


def _first_texts(report: Report, embedder: Embedder, profile: str, encoders: Sequence[str]) -> None:
    """Train on the first five texts of each label of the sample; test on the remaining texts."""
    rows = _sample_rows()
    first = _first(rows, 5)
    model = _trained(embedder, "sample_60", first, encoders)
    others = [text for text, label in rows if (text, label) not in set(first)]
    outside = model.rejects(embedder.read(OUTSIDE, encoders).blocks)
    lost = model.rejects(embedder.embed(others, "asked", encoders))
    report.add(f"sample of 60, {profile}: foreign rejected", float(outside.mean()))
    report.add(f"sample of 60, {profile}: own rejected", float(lost.mean()))


def _few_shot(report: Report, embedder: Embedder, profile: str, encoders: Sequence[str]) -> None:
    """Train on ten examples of each label of BANKING77, and report which texts are rejected."""
    model, _ = train(embedder, FEW, encoders, RATE)
    lost = float(model.rejects(embedder.read(ASKED, encoders).blocks).mean())
    outside = model.rejects(embedder.read(OUTSIDE, encoders).blocks)
    name = f"BANKING77 10-shot, {profile}"
    report.add(f"{name}: foreign rejected", float(outside.mean()))
    report.add(f"{name}: own rejected", lost, "", IN_DOMAIN[1])
    report.add(f"{name}: own rejected at least", lost, "", IN_DOMAIN[0])


def _withheld(report: Report, embedder: Embedder, profile: str, encoders: Sequence[str]) -> None:
    """Train on BANKING77 without 27 labels; report which texts of all labels are rejected."""
    texts, labels = embedder.rows(FEW)
    test = embedder.read(ASKED, encoders)
    areas, rejected, lost = [], [], []
    for seed in DRAWS:
        names = sorted(set(labels))
        random.Random(seed).shuffle(names)
        held = set(names[:WITHHELD])
        rows = [row for row in zip(texts, labels, strict=True) if row[1] not in held]
        model = _trained(embedder, f"withheld {seed}", rows, encoders)
        is_held = np.array([label in held for label in test.labels])
        inside, outside = _part(test, ~is_held), _part(test, is_held)
        areas.append(area_under_curve(model.domain_scores(inside), model.domain_scores(outside)))
        rejected.append(float(model.rejects(outside).mean()))
        lost.append(float(model.rejects(inside).mean()))
    name = f"BANKING77 10-shot, {WITHHELD} labels withheld, {profile}"
    report.add(f"{name}: AUROC", float(np.mean(areas)), "", Bar(0.87))
    report.add(f"{name}: foreign rejected", float(np.mean(rejected)))
    report.add(f"{name}: own rejected", float(np.mean(lost)))


def _part(data: Embedded, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return the vectors of the texts that the mask `chosen`, bool, shape (texts,), selects."""
    return {name: block[chosen] for name, block in data.blocks.items()}


def _trained(embedder: Embedder, name: str, rows: Rows, encoders: Sequence[str]) -> TrainedText:
    embedder.own[name] = ([text for text, _ in rows], [label for _, label in rows])
    return train(embedder, name, encoders, RATE)[0]


def _sample_rows() -> Rows:
    """Return the shipped sample. Its 15 texts per label can be divided into five equal folds."""
    with SAMPLE.open(encoding="utf-8", newline="") as stream:
        return [(text, label) for text, label in csv.reader(stream)]


def _first(rows: Rows, shots: int) -> Rows:
    """Return the first `shots` texts of each label."""
    by_label: dict[str, list[str]] = defaultdict(list)
    for text, label in rows:
        by_label[label].append(text)
    return [(text, label) for label, texts in by_label.items() for text in texts[:shots]]
