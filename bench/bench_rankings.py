"""Measures whether labelling ranked examples raises accuracy more than labelling random examples.

Run with `make bench-rankings` or `python -m bench.bench_rankings [--data FOLDER] [--only NAME]
[--draws 5] [--examples N]`. It trains on 5 random examples of each label. Then it adds 100 of the
remaining training examples, chosen by the ranking or at random. It trains again, and measures the
accuracy on the public test set. Vectors are cached in build/bench, so a second run only trains.
Prints a table, writes build/bench/rankings.json, and fails if a value misses its limit.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from bench.report import Bar, Report, say
from bench.text_data import BUILD, ROOT, Embedded, Embedder
from bench.vision_data import class_pictures, read_set
from bench.vision_engine import from_rows, run_training, vision_data
from chalicelib.domain.models.judgement import Judgement
from chalicelib.engines.interface import TextFitOptions
from chalicelib.engines.ranking.parts import dump_part, load_part
from chalicelib.engines.ranking.pool import SamplePool
from chalicelib.engines.ranking.selection import choose
from chalicelib.engines.ranking.texts import judge
from chalicelib.engines.text import fit as training
from chalicelib.engines.vision.backbone.pool import BackbonePool
from infra.models import default_directory

START, ADDED, DRAWS = 5, 100, 5
"""Numbers of examples per label at the start, of labels that are added, and of paired draws."""
OUTSIDE = "oos"
"""Label of out-of-scope texts, which are not trained on."""


@dataclass(frozen=True)
class Task:
    """A public dataset, and a function that trains on some of its examples."""

    labels: Sequence[str]
    """Labels of the examples of the training part."""
    learn: Callable[[Sequence[int]], tuple[float, Callable[[Sequence[int]], Iterable[Judgement]]]]
    """Trains on the given examples; returns the test accuracy, and a function that judges examples.
    """


@dataclass
class Gains:
    """Measures how much more ranked examples raise the accuracy than random examples."""

    report: Report
    all: list[float] = field(default_factory=list)

    def measure(self, name: str, task: Task, draws: int) -> None:
        """Compare ranked with random examples in several draws of a dataset; report the gains."""
        starts, chances, chosens = [], [], []
        for seed in range(draws):
            dice = np.random.default_rng(seed)
            start = _start(task.labels, dice)
            rest = np.setdiff1d(np.arange(len(task.labels)), start)
            accuracy, judged = task.learn(start)
            picked = rest[_ranked(judged(rest.tolist()))]
            random = dice.choice(rest, ADDED, replace=False)
            starts.append(accuracy)
            chances.append(task.learn([*start, *random.tolist()])[0])
            chosens.append(task.learn([*start, *picked.tolist()])[0])
            say(
                f"{name}, draw {seed}: {accuracy:.4f}, random {chances[-1]:.4f}, "
                f"ranking {chosens[-1]:.4f}"
            )
        gains = [one - other for one, other in zip(chosens, chances, strict=True)]
        self.all += gains
        self.report.add(f"{name}, {START} a label: accuracy", float(np.mean(starts)))
        self.report.add(f"{name}, {ADDED} more at random", float(np.mean(chances)))
        self.report.add(f"{name}, {ADDED} more by ranking", float(np.mean(chosens)))
        self.report.add(f"{name}: gain", float(np.mean(gains)), "", Bar(1e-9), None, spread(gains))

    def finish(self) -> None:
        """Report the mean gain over all draws of all datasets."""
        low, high = spread(self.all)
        self.report.add("all: gain", float(np.mean(self.all)), "", None, None, (low, high))
        self.report.add("all: lower end of its 95 % interval", low, "", Bar(1e-9))


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `values`, by Student's t distribution."""
    if len(values) < 2:
        return values[0], values[0]
    reach = float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1))
    middle, error = float(np.mean(values)), reach / len(values) ** 0.5
    return middle - error, middle + error


def _start(labels: Sequence[str], dice: np.random.Generator) -> list[int]:
    """Return the indexes of a few random examples of each label."""
    names = np.array(labels)
    drawn = [
        dice.permutation(np.flatnonzero(names == label))[:START] for label in sorted({*labels})
    ]
    return sorted(np.concatenate(drawn).tolist())


def _ranked(judgements: Iterable[Judgement]) -> list[int]:
    """Return the indexes of the examples that a ranking of the service would choose."""
    pool, found, size = SamplePool(), list(judgements), 1_000
    for number, first in enumerate(range(0, len(found), size)):
        part = dump_part(list(enumerate(found[first : first + size])))
        pool.add(number, load_part(part))
    kept = pool.samples()
    if kept is None:
        return []
    samples, weights = kept
    picks = choose(samples.vectors, weights, samples.uncertainties, samples.likeness, ADDED)
    return [int(samples.parts[one.at]) * size + int(samples.rows[one.at]) for one in picks]


def first_of_each(labels: Sequence[str], most: int) -> list[int]:
    """Return the indexes of the first `most` examples of each label, without out-of-scope ones."""
    seen: Counter[str] = Counter()
    kept = []
    for place, label in enumerate(labels):
        seen[label] += 1
        if seen[label] <= most and label != OUTSIDE:
            kept.append(place)
    return kept


def text_task(data: Path, name: str, most: int) -> Task:
    """Return a task that trains on a dataset of texts, with the fast profile."""
    embedder = Embedder(data, default_directory())

    def part(end: str, size: int) -> Embedded:
        texts, labels = embedder.rows(f"{name}_{end}")
        kept = first_of_each(labels, size)
        chosen = [texts[place] for place in kept]
        blocks = embedder.embed(chosen, f"{name}_{end}", ("bge",))
        return Embedded(chosen, [labels[place] for place in kept], blocks)

    train, test = part("train", most), part("test", sys.maxsize)
    truth = np.array(test.labels)

    def learn(
        places: Sequence[int],
    ) -> tuple[float, Callable[[Sequence[int]], Iterable[Judgement]]]:
        examples = embedder.examples(train.at(places), name)
        model = training.fit(examples, TextFitOptions(), lambda epoch: None)
        said = np.array(model.labels)[model.predict(test.blocks).argmax(axis=1)]
        return float((said == truth).mean()), lambda at: judge(model, train.at(at).blocks)

    return Task(train.labels, learn)


def picture_task(data: Path, name: str, most: int) -> Task:
    """Return a task that trains on a dataset of type image."""
    backbones = BackbonePool(default_directory())
    train, test = (read_set(data, f"{name}_{part}", "image") for part in ("train", "test"))
    names = train.labels
    train = train.only(first_of_each([one.label for one in train.examples], most), train.name)

    def rows(source: object, examples: Sequence[object]) -> np.ndarray:
        given = vision_data(source, class_pictures(examples, names), "image", backbones)
        return np.stack(
            [np.array(given.features.row(at), np.float32) for at in range(len(examples))]
        )

    train_rows, test_rows = rows(train, train.examples), rows(test, test.examples)
    truth = np.array([names.index(example.label) for example in test.examples])

    def learn(
        places: Sequence[int],
    ) -> tuple[float, Callable[[Sequence[int]], Iterable[Judgement]]]:
        drawn = train.only(sorted(places), train.name)
        given = vision_data(train, class_pictures(drawn.examples, names), "image", backbones)
        _, model, _ = run_training("image", given, backbones)
        accuracy = float((from_rows(model, test_rows).argmax(axis=1) == truth).mean())
        return accuracy, lambda at: (model.judgement(train_rows[place]) for place in at)

    return Task([example.label for example in train.examples], learn)


SETS: dict[str, Callable[[Path, int], Task]] = {
    "banking77": lambda data, most: text_task(data, "banking77", most),
    "clinc150": lambda data, most: text_task(data, "clinc150_full", most),
    "grocery81": lambda data, most: picture_task(data, "grocery81", most),
}


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_rankings")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=[*SETS], action="append")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument(
        "--examples", type=int, default=sys.maxsize, help="of each label to choose from at most"
    )
    options = parser.parse_args()
    gains = Gains(Report("Labels that a ranking chose, against as many at random"))
    for name in options.only or SETS:
        gains.measure(name, SETS[name](options.data, options.examples), options.draws)
    gains.finish()
    return gains.report.finish(BUILD / "rankings.json")


if __name__ == "__main__":
    sys.exit(main())
