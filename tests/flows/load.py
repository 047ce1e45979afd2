"""Callers that change a stack continuously, a journal of answers, and consistency checks.

Used where a stack is killed (tests/flows/kills/test_state.py) or copied while it moves
(bench/bench_backup.py).
"""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.flows.client import LANGUAGE, OPEN, Client
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack

ROWS = 40
"""Texts of each dataset that is uploaded."""
KEPT = 4
"""Data sets that an uploader keeps; older ones are deleted."""
SWITCHES = 5
"""How often each version of a model is served again."""
SETTLE_SECONDS = 180.0
BROKEN = (OSError, http.client.HTTPException, AssertionError, ValueError)
"""What a caller sees when a stack dies under it."""


@dataclass
class Journal:
    """Times of answered calls, in seconds since 1970, by the object they concern."""

    uploads: dict[int, float] = field(default_factory=dict)
    """Data sets that were read."""
    deletions: dict[int, float] = field(default_factory=dict)
    """Data sets whose deletion was accepted."""
    asked_deletions: set[int] = field(default_factory=set)
    """Data sets whose deletion was asked for, whatever came of it."""
    texts: dict[str, float] = field(default_factory=dict)
    """Examples that were added one by one."""
    asked_texts: set[str] = field(default_factory=set)
    """Examples that were sent, whatever came of it."""
    models: dict[str, float] = field(default_factory=dict)
    """Trainings that were accepted."""
    predictions: list[float] = field(default_factory=list)
    """Predictions, which are counted."""

    @property
    def has_all(self) -> bool:
        """Whether a call of each kind that can be lost was answered."""
        return all((self.uploads, self.texts, self.models, self.predictions))

    def remove_after(self, moment: float) -> None:
        """Remove calls answered after a moment, which may have been lost."""
        for answered in (self.uploads, self.deletions, self.texts, self.models):
            for key in [key for key, when in answered.items() if when >= moment]:
                answered.pop(key)
        self.predictions[:] = [when for when in self.predictions if when < moment]


class Load:
    """Threads that upload, delete, add, train and predict until stopped.

    Args:
        client: the caller; each thread has a separate connection.
        home: dataset that single examples are added to.
        weather: dataset that models are trained on.
        journal: takes what was answered.
    """

    def __init__(self, client: Client, home: int, weather: int, journal: Journal) -> None:
        self.journal = journal
        self._home, self._weather = home, weather
        self._began = time.monotonic()
        self._stop = threading.Event()
        works = (self._upload, self._upload, self._add, self._train, self._predict)
        self._threads = [
            threading.Thread(target=self._go, args=(work, client.clone(), number), daemon=True)
            for number, work in enumerate(works)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop the callers."""
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _go(self, work: Callable[[Client, str], None], caller: Client, number: int) -> None:
        """Repeat one kind of work; calls that fail when the stack dies are not recorded."""
        with caller as client:
            for turn in count():
                if self._stop.is_set():
                    return
                try:
                    work(client, f"{number} {turn} {self._began}")
                except BROKEN:
                    time.sleep(0.05)

    def _upload(self, client: Client, salt: str) -> None:
        """Upload some datasets, then delete the first."""
        mine = []
        for _ in range(KEPT):
            if self._stop.is_set():
                return
            made = client.dataset(csv_file(made_rows(ROWS, seed=len(salt))))
            mine.append(int(made["id"]))
            self.journal.uploads[mine[-1]] = time.time()
        for gone in mine[: KEPT - 1]:
            self.journal.asked_deletions.add(gone)
            assert client.delete(f"{LANGUAGE}/datasets/{gone}").status == 200
            self.journal.deletions[gone] = time.time()

    def _add(self, client: Client, salt: str) -> None:
        """Add one example."""
        text = f"added {salt}"
        self.journal.asked_texts.add(text)
        sent = {"document": text, "label": f"label {len(salt) % 3}"}
        path = f"{LANGUAGE}/datasets/{self._home}/examples"
        assert client.json("POST", path, sent).status == 200
        self.journal.texts[text] = time.time()

    def _train(self, client: Client, _: str) -> None:
        """Train one model, retrain it, and serve its versions in turn."""
        model_id = str(client.train(self._weather)["modelId"])
        self.journal.models[model_id] = time.time()
        client.wait_model(model_id)
        sent = {"modelId": model_id, "epochs": 1}
        assert client.json("POST", f"{LANGUAGE}/retrain", sent).status == 200
        client.wait_model(model_id)
        for number in (1, 2) * SWITCHES:
            path = f"{LANGUAGE}/models/{model_id}/versions/{number}/serve"
            assert client.send("PUT", path).status == 200

    def _predict(self, client: Client, salt: str) -> None:
        """Request one prediction; the pause leaves the processors to the others."""
        assert client.predict("CommunitySentiment", salt, "sentiment").status == 200
        self.journal.predictions.append(time.time())
        time.sleep(0.05)


def settle(client: Client, stack: LocalStack) -> None:
    """Wait until no upload, training or deletion is open.

    Raises:
        TimeoutError: something is never finished.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while unfinished := _unfinished(stack):
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"not finished after {SETTLE_SECONDS:g} s: {unfinished}\n{stack.log()}"
            )
        time.sleep(0.1)


def _unfinished(stack: LocalStack) -> list[str]:
    """Return the rows of unfinished jobs."""
    return [
        f"{table}: {row}"
        for table in ("datasets", "models", "deletions")
        for row in rows(stack, table)
        if "open" in row
    ]


def rows(stack: LocalStack, table: str) -> list[dict[str, Any]]:
    """Read all rows of a table."""
    pages = stack.client("dynamodb").get_paginator("scan")
    found = pages.paginate(TableName=f"{stack.settings.name}-{table}", ConsistentRead=True)
    return [item for page in found for item in page["Items"]]


def complaints(client: Client, stack: LocalStack, is_repaired: bool = False) -> list[str]:
    """List every inconsistency of an idle stack.

    After a repair, trainings may fail whose examples are lost, if they say so.
    """
    datasets = client.items(f"{LANGUAGE}/datasets")
    wrong = [problem for dataset in datasets for problem in _torn(client, dataset)]
    wrong += [
        f"model {model['modelId']}: {model['status']} {model.get('failureMsg')}"
        for dataset in datasets
        for model in client.items(f"{LANGUAGE}/datasets/{dataset['id']}/models")
        if model["status"] in OPEN or not _answers(client, model, is_repaired)
        if not (is_repaired and "lost with damaged data" in str(model.get("failureMsg")))
    ]
    return wrong + _orphans(stack) + _dead_jobs(stack)


def _torn(client: Client, dataset: dict[str, Any]) -> list[str]:
    """Compare a dataset's counts with its examples."""
    items = client.items(f"{LANGUAGE}/datasets/{dataset['id']}/examples", source="all")
    labels = Counter(item["label"]["id"] for item in items)
    summed = {label["id"]: label["numExamples"] for label in dataset["labelSummary"]["labels"]}
    is_whole = (
        dataset["available"]
        and dataset["statusMsg"] == "SUCCEEDED"
        and len({item["id"] for item in items}) == len(items) == dataset["totalExamples"]
        and labels == Counter(summed)
    )
    seen = f"{dataset['statusMsg']}, {dataset['totalExamples']} counted, {len(items)} listed"
    return [] if is_whole else [f"dataset {dataset['id']}: {seen}"]


def _answers(client: Client, model: dict[str, Any], is_repaired: bool) -> bool:
    """Return whether the versions of a successful model answer and have cards.

    After a repair, files of versions that are not served may be lost.
    """
    model_id = model["modelId"]
    versions = client.get(f"{LANGUAGE}/models/{model_id}/versions").ok["data"]
    served = [one["version"] for one in versions if one["isServed"]]
    answers = {}
    for number in served if is_repaired else [one["version"] for one in versions]:
        card = client.get(f"{LANGUAGE}/models/{model_id}/card", modelVersion=number)
        answers[number] = client.predict(model_id, "rain", modelVersion=number)
        if (card.status, answers[number].status) != (200, 200):
            return False
    answer = client.predict(model_id, "rain")
    return (model["status"], [answer.body]) == ("SUCCEEDED", [answers[n].body for n in served])


def _orphans(stack: LocalStack) -> list[str]:
    """Return rows and objects of datasets that do not exist."""
    known = {row["dataset_id"]["N"] for row in rows(stack, "datasets")}
    named = {row["sequence"]["S"].split("#")[0] for row in rows(stack, "examples")}
    named |= {row["dataset_id"]["N"] for row in rows(stack, "labels")}
    pages = stack.client("s3").get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=stack.settings.bucket, Prefix="datasets/"):
        named |= {entry["Key"].split("/")[1] for entry in page.get("Contents", ())}
    return [f"traces of dataset {number}" for number in sorted(named - known)]


def _dead_jobs(stack: LocalStack) -> list[str]:
    """Return the dead-letter queues that have messages."""
    sqs, name = stack.client("sqs"), "ApproximateNumberOfMessages"
    urls = [url for url in sqs.list_queues().get("QueueUrls", []) if url.endswith("-dead")]
    asked = {u: sqs.get_queue_attributes(QueueUrl=u, AttributeNames=[name]) for u in urls}
    return [url for url, answer in asked.items() if answer["Attributes"][name] != "0"]


def losses(client: Client, journal: Journal, home: int) -> list[str]:
    """List answered changes that are missing in an idle stack."""
    datasets = {int(dataset["id"]) for dataset in client.items(f"{LANGUAGE}/datasets")}
    uploads = set(journal.uploads) - journal.asked_deletions
    listed = client.items(f"{LANGUAGE}/datasets/{home}/examples", source="all")
    texts = Counter(item["name"] for item in listed)
    used = client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
    wrong = [f"dataset {number} is lost" for number in sorted(uploads - datasets)]
    wrong += [f"dataset {n} is back" for n in sorted(datasets & journal.deletions.keys())]
    wrong += [f"{text!r} is lost" for text in journal.texts if text not in texts]
    wrong += [f"{text!r} is there {n} times" for text, n in texts.items() if n != 1]
    wrong += [f"{text!r} was never sent" for text in texts if text not in journal.asked_texts]
    wrong += [
        f"model {model_id} is lost"
        for model_id in journal.models
        if client.get(f"{LANGUAGE}/train/{model_id}").status != 200
    ]
    if used < len(journal.predictions):
        wrong.append(f"{used} predictions are counted, {len(journal.predictions)} were answered")
    return wrong
