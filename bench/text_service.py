"""Measures large trainings over HTTP: their time, and their results if workers are killed."""

from __future__ import annotations

import argparse
import csv
import io
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bench.bench_http import peak_bytes
from bench.report import Report, ceiling, say
from tests.flows.client import Client
from tests.flows.world import World
from tests.local_stack import LocalStack

TEXTS, WORDS, WAIT_SECONDS = 100_000, 3_000_000, 2_400
POLL_SECONDS = 1.0
"""Seconds between polls, as in a user's script. Fifty polls a second would take a processor."""
POLITE = ("please", "hi there", "hello", "quick question", "can you help", "thanks", "today", "hey")
FAST = {"trainParams": json.dumps({"profile": "fast"})}
Rows = list[tuple[str, str]]


@contextmanager
def _stack() -> Iterator[tuple[LocalStack, Client]]:
    """Start a local stack, and yield it with a client that polls once a second."""
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        caller = world.caller("GOLD")
        caller.poll_seconds = POLL_SECONDS
        yield stack, caller
        world.close()


def bench_service(report: Report, asked: argparse.Namespace) -> None:
    """Measure the time from an upload to a trained model, and the time of a second training."""
    with _stack() as (stack, caller):
        rows = short_texts(asked.data, asked.texts)
        name = f"{len(rows):,} texts"
        dataset, seconds = _trained(stack, caller, report, name, rows)
        report.add(f"{name}: POST upload to SUCCEEDED", seconds, "s", ceiling(480))
        started = time.perf_counter()
        _end(caller, _train(caller, dataset))
        report.add(f"{name}: trained again", time.perf_counter() - started, "s")


def bench_words(report: Report, asked: argparse.Namespace) -> None:
    """Train on the largest allowed dataset: three million words in 100,000 texts."""
    with _stack() as (stack, caller):
        rows = long_texts(asked.data, asked.texts)
        name = f"{len(rows) * (WORDS // TEXTS):,} words"
        _, seconds = _trained(stack, caller, report, name, rows)
        report.add(f"{name}: POST upload to SUCCEEDED", seconds, "s")


def bench_interrupted(report: Report, asked: argparse.Namespace) -> None:
    """Compare three trainings. The worker is killed while embedding, while fitting, or not at all.

    All three artifacts must be equal. For more than 30,000 examples, the service promises this only
    if all workers run on one machine, as they do here.
    """
    with _stack() as (stack, caller):
        rows = short_texts(asked.data, asked.texts)
        dataset = caller.wait_dataset(caller.upload(_file(rows), "big.csv")["id"], WAIT_SECONDS)
        models = []
        for share in (0.2, 0.7, None):
            model_id = _train(caller, dataset)
            if share is not None:
                _wait_progress(caller, model_id, share)
                stack.kill_worker("train")
            _end(caller, model_id)
            models.append(caller.get(f"{caller.base}/models/{model_id}/card").ok)
    digests = {str(card["artifactSha256"]) for card in models}
    name = f"{len(rows):,} texts, two of three killed: artifacts"
    report.add(name, len(digests), "", ceiling(1))


def _trained(
    stack: LocalStack, caller: Client, report: Report, name: str, rows: Rows
) -> tuple[dict[str, Any], float]:
    """Upload texts and train; return the dataset, and the seconds of upload and training."""
    content = _file(rows)
    say(f"{len(rows):,} texts, {len(content) / 1e6:.1f} MB")
    started = time.perf_counter()
    dataset = caller.wait_dataset(caller.upload(content, "big.csv")["id"], WAIT_SECONDS)
    say(f"available after {time.perf_counter() - started:.0f} s")
    ended = _end(caller, _train(caller, dataset))
    seconds = time.perf_counter() - started
    peaks = {name: peak_bytes(pid) / 1e6 for name, pid in stack.processes.items()}
    say(f"{ended['trainStats']}; peaks {peaks}")
    off = abs(int(dataset["totalExamples"]) - len(rows))
    report.add(f"{name}: examples that are off", off, "", ceiling(0))
    report.add(f"{name}: largest process", max(peaks.values()), "MB", ceiling(3_000))
    return dataset, seconds


def _train(caller: Client, dataset: dict[str, Any]) -> str:
    """Start a training with the fast profile; return the model's id."""
    return str(caller.train(int(dataset["id"]), "big", **FAST)["modelId"])


def _end(caller: Client, model_id: str) -> dict[str, Any]:
    """Wait for the end of a training, which must succeed."""
    ended = caller.wait_model(model_id, WAIT_SECONDS)
    assert ended["status"] == "SUCCEEDED", ended
    return ended


def _wait_progress(caller: Client, model_id: str, share: float) -> None:
    path = f"{caller.base}/train/{model_id}"
    caller.wait(path, lambda training: float(training["progress"]) >= share, WAIT_SECONDS)


def short_texts(data: Path, most: int) -> Rows:
    """Return texts of 150 labels: the queries of CLINC150, each with different polite words."""
    rows = _clinc(data)
    wordings = ["", *(f"{word} " for word in POLITE)]
    made = [(f"{before}{text}", label) for before in wordings for text, label in rows]
    return list(dict.fromkeys(made))[:most]


def long_texts(data: Path, most: int) -> Rows:
    """Return longer texts. Each query is joined with the next queries of the same label."""
    by_label: dict[str, list[str]] = {}
    for text, label in short_texts(data, most):
        by_label.setdefault(label, []).append(text)
    return [row for label, texts in sorted(by_label.items()) for row in _joined(label, texts)]


def _joined(label: str, texts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each text joined with the next texts, cut to a fixed number of words."""
    words_of_a_text = WORDS // TEXTS
    for place, text in enumerate(texts):
        following = islice(cycle(texts), place + 1, place + words_of_a_text)
        words = " ".join([text, *following]).split()
        yield " ".join(words[:words_of_a_text]), label


def _clinc(data: Path) -> Rows:
    with (data / "text" / "clinc150_full_train.csv").open(encoding="utf-8", newline="") as stream:
        return [(row["text"], row["label"]) for row in csv.DictReader(stream)]


def _file(rows: Rows) -> bytes:
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()
