"""Measures how well Presage and cleanlab find wrong labels. Labels are flipped on purpose.

Presage and cleanlab use the same probabilities. This part of bench/bench_text.py also runs alone:
`python -m bench.text_data_report`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import peers
from bench.report import Bar, Report, say
from bench.text_data import BUILD, PROFILES, ROOT, Embedder
from chalicelib.engines.data_report import likely_label_errors
from chalicelib.engines.interface import OutOfFold, TextFitOptions, TextTrainingSet
from chalicelib.engines.text.fit import fit

FILE = "banking77_train"
SHARE = 0.05
"""Fraction of the labels that are made wrong."""
SEEDS = (0, 1, 2)
SHOTS = (10, 20, 50)
BARS = {"anywhere": (0.90, 0.85), "to a near label": (0.75, 0.70)}
"""Bars of recall and precision, by how the wrong labels are chosen."""
NEAR = 3
Flip = Callable[[TextTrainingSet, int], np.ndarray]


@dataclass(frozen=True)
class Found:
    """Recall and precision of a list of suspects (likely label errors)."""

    precision: float
    recall: float


def bench_data_report(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure how wrong labels are found with the encoders of the fast profile."""
    examples = embedder.examples(embedder.read(FILE, PROFILES["fast"]), FILE)
    for where, flip in (("anywhere", flipped_anywhere), ("to a near label", flipped_near)):
        _bench_flips(report, examples, where, flip)
    for shots in SHOTS:
        _bench_shots(report, examples, shots)


def _bench_flips(report: Report, examples: TextTrainingSet, where: str, flip: Flip) -> None:
    """Measure how wrong labels are found among all examples, in several random draws."""
    rows, peer = [], None
    for seed in SEEDS:
        given = flip(examples, seed)
        folds = out_of_fold(examples, given)
        rows.append(judge(suspects(folds), given, examples.label_indexes))
        if seed == SEEDS[0]:
            peer = _cleanlab(folds, given, examples.label_indexes)
    for name, bar in zip(("recall", "precision"), BARS[where], strict=True):
        values = [getattr(found, name) for found in rows]
        theirs = None if peer is None else ("cleanlab, its default", getattr(peer, name))
        report.add(
            f"flipped {where}: {name} of the list",
            float(np.mean(values)),
            "",
            Bar(bar),
            theirs,
            (min(values), max(values)),
        )


def _bench_shots(report: Report, examples: TextTrainingSet, shots: int) -> None:
    """Measure how flipped labels are found among a few examples of each label."""
    values = []
    for seed in SEEDS:
        few = some_of_each(examples, shots, seed)
        given = flipped_anywhere(few, seed)
        found = judge(suspects(out_of_fold(few, given)), given, few.label_indexes)
        values.append(found.precision)
    mean, spread = float(np.mean(values)), (min(values), max(values))
    report.add(f"flipped, {shots} examples a label: precision", mean, "", interval=spread)


def out_of_fold(examples: TextTrainingSet, given: np.ndarray) -> OutOfFold:
    """Return the out-of-fold results of a training with the labels `given`, int, (examples,)."""
    model = fit(replace(examples, label_indexes=given), TextFitOptions(), lambda epoch: None)
    if model.report is None:
        raise RuntimeError("A training that finished must have a report.")
    return model.report.out_of_fold


def suspects(folds: OutOfFold) -> list[int]:
    """Return the indexes of all likely label errors, without the report's limit."""
    found = likely_label_errors(folds.probabilities, folds.truth, limit=len(folds.truth))
    return [int(folds.examples[one.example]) for one in found]


def judge(listed: Sequence[int], given: np.ndarray, truth: np.ndarray) -> Found:
    """Compare a list of suspects with given and true labels, both int, shape (examples,)."""
    wrong = set(np.flatnonzero(given != truth).tolist())
    hits = len(wrong & set(listed))
    return Found(hits / max(len(listed), 1), hits / max(len(wrong), 1))


def flipped_anywhere(examples: TextTrainingSet, seed: int) -> np.ndarray:
    """Replace random labels, each by any other label with equal probability."""
    generator = np.random.default_rng(seed)
    given = np.array(examples.label_indexes)
    for row in generator.choice(len(given), round(SHARE * len(given)), replace=False):
        moved = generator.integers(1, len(examples.label_names))
        given[row] = (given[row] + moved) % len(examples.label_names)
    return given


def flipped_near(examples: TextTrainingSet, seed: int) -> np.ndarray:
    """Replace random labels, each by one of the three most similar labels."""
    generator = np.random.default_rng(seed)
    given = np.array(examples.label_indexes)
    vectors = np.concatenate(list(examples.blocks.values()), axis=1)
    means = np.stack([vectors[given == label].mean(axis=0) for label in np.unique(given)])
    means -= means.mean(axis=0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    near = np.argsort(-(means @ means.T), axis=1)[:, 1 : NEAR + 1]
    for row in generator.choice(len(given), round(SHARE * len(given)), replace=False):
        given[row] = generator.choice(near[given[row]])
    return given


def some_of_each(examples: TextTrainingSet, shots: int, seed: int) -> TextTrainingSet:
    """Draw the same number of examples of every label."""
    generator = np.random.default_rng(seed)
    labels = np.asarray(examples.label_indexes)
    rows = np.concatenate(
        [
            generator.permutation(np.flatnonzero(labels == label))[:shots]
            for label in range(len(examples.label_names))
        ]
    )
    return replace(
        examples,
        blocks={name: block[rows] for name, block in examples.blocks.items()},
        label_indexes=labels[rows],
        digests=[examples.digests[row] for row in rows],
        word_digests=[examples.words[row] for row in rows],
    )


def _cleanlab(folds: OutOfFold, given: np.ndarray, truth: np.ndarray) -> Found | None:
    """Run cleanlab on the probabilities in `folds`; return None if it cannot be installed."""
    lists = peers.cleanlab(folds.truth.tolist(), folds.probabilities.tolist())
    if lists is None:
        return None
    for name, places in lists.items():
        found = judge([int(folds.examples[place]) for place in places], given, truth)
        say(f"cleanlab, {name}: precision {found.precision:.3f}, recall {found.recall:.3f}")
    default = lists["prune_by_noise_rate"]
    return judge([int(folds.examples[place]) for place in default], given, truth)


def main() -> int:
    """Run only the part of this module; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / ".models")
    asked = parser.parse_args()
    report = Report("Text data report: labels flipped on purpose")
    bench_data_report(report, Embedder(asked.data, asked.models), list(PROFILES))
    return report.finish(BUILD / "text-data-report.json")


if __name__ == "__main__":
    sys.exit(main())
