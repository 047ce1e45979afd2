"""Section `corrections` of bench_http: corrects the wrong labels that a training flagged."""

from __future__ import annotations

import csv
import random
import statistics
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench.report import Bar, ceiling
from tests.flows.world import csv_file

if TYPE_CHECKING:
    from bench.bench_http import Bench

DRAWS, SHARE, MANY, FLIPPED = 3, 0.05, 10_000, 500
FEW = "banking77_fewshot_train_10"
WAIT_SECONDS = 900
Rows = list[tuple[str, str]]


def bench_corrections(bench: Bench) -> None:
    """Give BANKING77 texts wrong labels, train, correct what the data report flags, and retrain."""
    few, test = _rows(bench, FEW), _rows(bench, "banking77_test")
    clean = _accuracy(bench, _trained(bench, few)[1], test)
    corrected = [_corrected_accuracy(bench, few, test, seed) for seed in range(DRAWS)]
    lost = clean - statistics.fmean(corrected)
    named = ("without a flipped label", round(clean, 4))
    bench.report.add(
        "10 texts a label, 5 % flipped, corrected: accuracy", clean - lost, "", None, named
    )
    bench.report.add("the same: accuracy lost", lost, "", ceiling(0.01))
    _bench_many(bench)


def _corrected_accuracy(bench: Bench, rows: Rows, test: Rows, seed: int) -> float:
    """Flip labels, train, correct what the data report flags, retrain; return the accuracy."""
    flipped = _flipped(rows, round(SHARE * len(rows)), seed)
    dataset_id, model_id = _trained(bench, flipped)
    _correct(bench, dataset_id, {"fromReportOf": model_id})
    caller = bench.caller
    assert caller.json("POST", f"{caller.base}/retrain", {"modelId": model_id}).status == 200
    assert caller.wait_model(model_id, WAIT_SECONDS)["status"] == "SUCCEEDED"
    return _accuracy(bench, model_id, test)


def _bench_many(bench: Bench) -> None:
    """Report how many of 500 wrong labels are corrected, and the time of 10,000 corrections."""
    rows = random.Random(1).sample(_rows(bench, "banking77_train"), MANY)
    truth = dict(rows)
    dataset_id, model_id = _trained(bench, _flipped(rows, FLIPPED, 1))
    before = _examples(bench, dataset_id)
    wrong = [one["id"] for one in before if truth[one["name"]] != one["label"]["name"]]
    _correct(bench, dataset_id, {"fromReportOf": model_id})
    after = _examples(bench, dataset_id)
    right = {one["id"] for one in after if truth[one["name"]] == one["label"]["name"]}
    corrected = len(right & set(wrong))
    bench.report.add(f"{len(wrong)} of {MANY:,} flipped: corrected", corrected, "", Bar(400))
    back = [{"exampleId": one["id"], "label": truth[one["name"]]} for one in after]
    seconds = _correct(bench, dataset_id, {"corrections": back})
    bench.report.add(f"{len(back):,} corrections in one call", seconds, "s", ceiling(30))


def _rows(bench: Bench, name: str) -> Rows:
    with (bench.data / "text" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return [(row["text"], row["label"]) for row in csv.DictReader(stream)]


def _flipped(rows: Rows, count: int, seed: int) -> Rows:
    """Return all rows; `count` random rows get another label."""
    chosen, labels = random.Random(seed), sorted({label for _, label in rows})
    flipped = list(rows)
    for place in chosen.sample(range(len(rows)), count):
        text, label = rows[place]
        flipped[place] = (text, chosen.choice([other for other in labels if other != label]))
    return flipped


def _trained(bench: Bench, rows: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """Upload texts and train with default options; return the ids of the dataset and the model."""
    caller = bench.caller
    uploaded = caller.upload(csv_file(rows), "rows.csv")
    dataset_id = int(caller.wait_dataset(uploaded["id"], WAIT_SECONDS)["id"])
    model_id = str(caller.train(dataset_id)["modelId"])
    assert caller.wait_model(model_id, WAIT_SECONDS)["status"] == "SUCCEEDED"
    return dataset_id, model_id


def _correct(bench: Bench, dataset_id: int, corrections: dict[str, Any]) -> float:
    """Send corrections; return the seconds until the corrections are done."""
    path = f"{bench.caller.base}/datasets/{dataset_id}/corrections"
    began = time.perf_counter()
    answer = bench.caller.json("POST", path, corrections)
    assert answer.status == 200, answer.body[:500]
    return time.perf_counter() - began


def _examples(bench: Bench, dataset_id: int) -> list[dict[str, Any]]:
    path = f"{bench.caller.base}/datasets/{dataset_id}/browse"
    return [
        one
        for offset in range(0, MANY, 100)
        for one in bench.caller.get(f"{path}?offset={offset}").ok["data"]
    ]


def _accuracy(bench: Bench, model_id: str, test: Rows) -> float:
    return statistics.fmean(bench.caller.best(model_id, text) == label for text, label in test)
