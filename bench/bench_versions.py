"""Measures whether `serve: "if-better"` serves only versions trained on correct labels.

Run with `make bench-versions` or `python -m bench.bench_versions [--trials N]`. Each trial trains a
model over HTTP, adds correctly labelled texts and retrains: the new version must be served. Then it
gives 30 % of all texts a wrong label and retrains: the served version must stay.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import Bar, Report, say
from bench.text_data import BUILD, ROOT
from tests.flows.client import LANGUAGE, Client
from tests.flows.world import World, csv_file
from tests.local_stack import LocalStack

TRIALS = 10
CORRUPTED = 0.3
"""Fraction of the labels that a trial makes wrong."""
ADDED = 0.2
"""Fraction of the texts that are added after the first training."""
BAR = 0.9
OUTSIDE = "oos"
"""Label of out-of-scope texts."""
ASKED = 600
"""Number of test texts that measure the loss if a version with wrong labels is served."""
# Longest time of a training, in seconds.
PATIENCE = 600.0
Rows = list[tuple[str, str]]


@dataclass(frozen=True)
class Draw:
    """A public dataset, and the numbers of labels and of texts per label that a trial draws."""

    name: str
    labels: int
    texts: int
    """Texts of each label."""

    def read(self, data: Path, part: str) -> dict[str, list[str]]:
        """Return the texts of a part of the dataset, by label."""
        texts: dict[str, list[str]] = defaultdict(list)
        with (data / "text" / f"{self.name}_{part}.csv").open(encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                texts[row["label"]].append(row["text"])
        texts.pop(OUTSIDE, None)
        return texts

    def rows(self, data: Path, chance: random.Random) -> Rows:
        """Return texts with labels in random order."""
        texts = self.read(data, "train")
        rows = [
            (text, label)
            for label in chance.sample(sorted(texts), self.labels)
            for text in chance.sample(texts[label], min(self.texts, len(texts[label])))
        ]
        chance.shuffle(rows)
        return rows


DRAWS = (Draw("banking77", 20, 60), Draw("clinc150_full", 25, 50), Draw("sst3", 3, 500))
"""Datasets of the trials, in turn: an easy one, an easier one, and a difficult one."""


def retrain(client: Client, model: str) -> dict[str, Any]:
    """Retrain with `if-better`, and return the record of the new version."""
    sent = {"modelId": model, "trainParams": {"serve": "if-better"}}
    assert client.json("POST", f"{LANGUAGE}/retrain", sent).status == 200
    ended = client.wait_model(model, PATIENCE)
    assert ended["status"] == "SUCCEEDED", ended
    newest: dict[str, Any] = client.get(f"{LANGUAGE}/models/{model}/versions").ok["data"][0]
    say(newest.get("notServedBecause") or f"version {newest['version']} is served")
    return newest


def corrupt(client: Client, dataset: int, chance: random.Random) -> int:
    """Give a fraction of the examples a wrong label; return the number of these examples."""
    examples = client.items(f"{LANGUAGE}/datasets/{dataset}/examples", source="all")
    names = sorted({one["label"]["name"] for one in examples})
    chosen = chance.sample(examples, round(CORRUPTED * len(examples)))
    corrections = [
        {
            "exampleId": one["id"],
            "label": chance.choice([name for name in names if name != one["label"]["name"]]),
        }
        for one in chosen
    ]
    path = f"{LANGUAGE}/datasets/{dataset}/corrections"
    assert client.json("POST", path, {"corrections": corrections}).status == 200
    return len(chosen)


def lost_accuracy(client: Client, model: str, rows: Rows) -> float:
    """Return by how much version 3 is less accurate than version 2 on `rows`."""
    right = [
        sum(
            answer["probabilities"][0]["label"] == label
            for text, label in rows
            for answer in [client.predict(model, text, modelVersion=version).ok]
        )
        for version in (2, 3)
    ]
    return (right[0] - right[1]) / len(rows)


def run_trial(client: Client, draw: Draw, data: Path, seed: int) -> tuple[bool, bool, float]:
    """Train a model; with `if-better`, retrain on correct labels, then on partly wrong labels.

    Returns:
        Whether the version trained on correct labels is served, whether the version trained on
        wrong labels is served, and how much test accuracy is lost by serving it.
    """
    chance = random.Random(seed)
    rows = draw.rows(data, chance)
    later = round(ADDED * len(rows))
    dataset = int(client.dataset(csv_file(rows[later:]))["id"])
    model = str(client.train(dataset)["modelId"])
    assert client.wait_model(model, PATIENCE)["status"] == "SUCCEEDED"
    path = f"{LANGUAGE}/datasets/{dataset}/upload"
    added = {"data": ("later.csv", csv_file(rows[:later]))}
    assert client.multipart("PUT", path, {}, added).status == 200
    client.wait_dataset(dataset, PATIENCE)
    clean = retrain(client, model)
    say(f"{draw.name}, draw {seed}: {corrupt(client, dataset, chance)} of {len(rows)} corrupted")
    corrupted = retrain(client, model)
    assert [clean["version"], corrupted["version"]] == [2, 3]
    lost = 0.0
    if corrupted["isServed"]:
        labels = {label for _, label in rows}
        asked = draw.read(data, "test")
        tests = [(text, label) for label in labels for text in asked[label]]
        lost = lost_accuracy(client, model, chance.sample(tests, min(ASKED, len(tests))))
        say(f"{lost:.4f} of the test accuracy lost")
    return bool(clean["isServed"]), bool(corrupted["isServed"]), lost


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_versions")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--first", type=int, default=0, help="seed of the first trial")
    options = parser.parse_args()
    report = Report('Retraining with serve: "if-better"')
    trials, served, stayed = Counter[str](), Counter[str](), Counter[str]()
    losses: list[float] = []
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        client = world.caller("GOLD", example_calls=1_000_000)
        for seed in range(options.first, options.first + options.trials):
            draw = DRAWS[seed % len(DRAWS)]
            clean, corrupted, loss = run_trial(client, draw, options.data, seed)
            trials[draw.name] += 1
            losses.append(loss)
            served[draw.name] += clean
            stayed[draw.name] += not corrupted
        world.close()
    for drawn, number in sorted(trials.items()):
        name = f"{drawn}, {number} trials"
        report.add(f"{name}: new version of clean labels served", served[drawn])
        report.add(f"{name}: old version kept from wrong labels", stayed[drawn])
    count = options.trials
    report.add("clean labels: fraction served", served.total() / count, "", Bar(BAR))
    report.add(
        "wrong labels: fraction in which the old stays", stayed.total() / count, "", Bar(BAR)
    )
    report.add("wrong labels: largest loss of a served version", max(losses))
    return report.finish(BUILD / "versions.json")


if __name__ == "__main__":
    sys.exit(main())
