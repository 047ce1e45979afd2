"""Large trainings over HTTP: how long they take, and what is left of them when workers die."""

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
"""As a person's script would ask: fifty calls a second take a processor from the training."""
POLITE = ("please", "hi there", "hello", "quick question", "can you help", "thanks", "today", "hey")
FAST = {"trainParams": json.dumps({"profile": "fast"})}
Rows = list[tuple[str, str]]


@contextmanager
def _stack() -> Iterator[tuple[LocalStack, Client]]:
    """Start a local stack, and an account that asks once a second."""
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        caller = world.caller("GOLD")
        caller.poll_seconds = POLL_SECONDS
        yield stack, caller
        world.close()


def bench_service(report: Report, asked: argparse.Namespace) -> None:
    """From POST upload to a model that SUCCEEDED, and again from the vectors that are kept."""
    with _stack() as (stack, caller):
        rows = short_texts(asked.data, asked.texts)
        name = f"{len(rows):,} texts"
        dataset, seconds = _trained(stack, caller, report, name, rows)
        report.add(f"{name}: POST upload to SUCCEEDED", seconds, "s", ceiling(480))
        started = time.perf_counter()
        _end(caller, _train(caller, dataset))
        report.add(f"{name}: trained again", time.perf_counter() - started, "s")


def bench_words(report: Report, asked: argparse.Namespace) -> None:
    """Three million words, the most that a data set may have, in 100,000 texts."""
    with _stack() as (stack, caller):
        rows = long_texts(asked.data, asked.texts)
        name = f"{len(rows) * (WORDS // TEXTS):,} words"
        _, seconds = _trained(stack, caller, report, name, rows)
        report.add(f"{name}: POST upload to SUCCEEDED", seconds, "s")


def bench_interrupted(report: Report, asked: argparse.Namespace) -> None:
    """Kill the worker among the vectors and in the fit; a third training is left alone.

    Above 30,000 examples the same bytes are promised on one machine only, which this is.
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
    """Upload and train; the data set, and the seconds from the first call to the end."""
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
    """Ask for a training of the fast profile; its model's id."""
    return str(caller.train(int(dataset["id"]), "big", **FAST)["modelId"])


def _end(caller: Client, model_id: str) -> dict[str, Any]:
    """Wait for the end of a training, which must be good."""
    ended = caller.wait_model(model_id, WAIT_SECONDS)
    assert ended["status"] == "SUCCEEDED", ended
    return ended


def _wait_progress(caller: Client, model_id: str, share: float) -> None:
    """Wait until so much of a training is done."""
    path = f"{caller.base}/train/{model_id}"
    caller.wait(path, lambda training: float(training["progress"]) >= share, WAIT_SECONDS)


def short_texts(data: Path, most: int) -> Rows:
    """Texts of 150 labels: the queries of CLINC150, each with other polite words."""
    rows = _clinc(data)
    wordings = ["", *(f"{word} " for word in POLITE)]
    made = [(f"{before}{text}", label) for before in wordings for text, label in rows]
    return list(dict.fromkeys(made))[:most]


def long_texts(data: Path, most: int) -> Rows:
    """As many texts, each long enough by the queries of its label that follow it."""
    by_label: dict[str, list[str]] = {}
    for text, label in short_texts(data, most):
        by_label.setdefault(label, []).append(text)
    return [row for label, texts in sorted(by_label.items()) for row in _joined(label, texts)]


def _joined(label: str, texts: list[str]) -> Iterator[tuple[str, str]]:
    """Each text with those that follow it, cut to an equal share of all words."""
    words_of_a_text = WORDS // TEXTS
    for place, text in enumerate(texts):
        following = islice(cycle(texts), place + 1, place + words_of_a_text)
        words = " ".join([text, *following]).split()
        yield " ".join(words[:words_of_a_text]), label


def _clinc(data: Path) -> Rows:
    """Return queries and their labels."""
    with (data / "text" / "clinc150_full_train.csv").open(encoding="utf-8", newline="") as stream:
        return [(row["text"], row["label"]) for row in csv.DictReader(stream)]


def _file(rows: Rows) -> bytes:
    """Rows as the service takes them."""
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()
