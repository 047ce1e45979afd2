"""Compares answers with the model of the specification and updates it with new facts.

Work in the background may have ended or not; a record that shows the end settles it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.flows.client import OPEN
from tests.flows.histories.actor import Actor, Divergence, expect, get, model_path
from tests.flows.histories.specification import (
    INTENT,
    Dataset,
    Item,
    Label,
    Receipt,
    TrainedModel,
    Window,
)

Record = dict[str, Any]
DATASET = [
    "id",
    "name",
    "createdAt",
    "updatedAt",
    "labelSummary",
    "totalExamples",
    "totalLabels",
    "available",
    "statusMsg",
    "type",
    "language",
    "numOfDuplicates",
    "object",
]
DELETION = [
    "id",
    "organizationId",
    "type",
    "status",
    "progress",
    "message",
    "object",
    "deletedObjectId",
]
DELETED, DELETED_BUT_CACHED = "SUCCEEDED", "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"


def see_dataset(dataset: Dataset, record: Record) -> None:
    """Compare a dataset's record."""
    expect("members of a dataset", DATASET, list(record))
    dataset.id = dataset.id or record["id"]
    dataset.created_at = dataset.created_at or record["createdAt"]
    shown = record["statusMsg"].partition(":")[0]
    if dataset.deletion_id:
        expect("state of a deleted dataset", ("DELETION_PENDING", False, dataset.id),
               (shown, record["available"], record["id"]))  # fmt: skip
        return
    if shown != "UPLOADING":
        dataset.finish()
    is_waiting = dataset.waiting is not None
    ended = "FAILED" if dataset.has_failed else "SUCCEEDED"
    expected = {
        "id": dataset.id,
        "name": dataset.name,
        "createdAt": dataset.created_at,
        "labels": [(label.name, label.count(), dataset.id) for label in dataset.labels],
        "totalExamples": dataset.total,
        "totalLabels": len(dataset.labels),
        "available": dataset.is_usable and not is_waiting,
        "statusMsg": "UPLOADING" if is_waiting else ended,
        "type": dataset.type,
        "language": "en_US",
        "numOfDuplicates": dataset.duplicates,
        "object": "dataset",
    }
    labels = record["labelSummary"]["labels"]
    got = {name: record.get(name) for name in expected} | {
        "labels": [(item["name"], item["numExamples"], item["datasetId"]) for item in labels],
        "statusMsg": shown,
    }
    expect(f"dataset {dataset.id}", expected, got)
    for label, item in zip(dataset.labels, labels, strict=True):
        see_label_id(label, item["id"])


def see_label_id(label: Label, found: int) -> None:
    """Compare the id of a label, or record it if it is not known yet."""
    label.id = label.id or found
    expect(f"id of label {label.name}", label.id, found)


def see_example(dataset: Dataset, item: Item, record: Record) -> None:
    """Compare the record of an example."""
    label, _, example = item
    see_label_id(label, record["label"]["id"])
    example.id = example.id or record["id"]
    shown = {"id": label.id, "datasetId": dataset.id, "name": label.name}
    expected = {
        "id": example.id,
        "name": example.text,
        "location": example.text,
        "createdAt": record["createdAt"],
        "label": shown | {"numExamples": label.count()},
        "object": "example",
    }
    expect(f"example of dataset {dataset.id}", expected, record)


def see_page(dataset: Dataset, items: Sequence[Item], records: Sequence[Record]) -> None:
    """Compare a page of examples."""
    expect(
        f"texts of dataset {dataset.id}",
        [(example.text, label.name) for label, _, example in items],
        [(record["name"], record["label"]["name"]) for record in records],
    )
    for item, record in zip(items, records, strict=True):
        see_example(dataset, item, record)


def see_receipts(dataset: Dataset, offset: int, count: int, records: Sequence[Record]) -> None:
    """Compare a page of receipts, newest first."""
    if dataset.waiting is not None and offset == 0 and records[0]["status"] != "UPLOADING":
        # The receipt is written before the counts are: the dataset itself shows its end.
        dataset = dataset.finished()
    expected = dataset.receipts[offset : offset + count]
    expect(f"number of receipts of dataset {dataset.id}", len(expected), len(records))
    for receipt, record in zip(expected, records, strict=True):
        see_receipt(receipt, record)


def see_receipt(receipt: Receipt, record: Record) -> None:
    """Compare a receipt."""
    failed = receipt.status == "FAILED"
    expected = (receipt.status, receipt.seen, receipt.kept, receipt.duplicates, receipt.rejected)
    names = ("status", "seen", "kept", "duplicates", "rejected")
    expect("receipt", expected, tuple(record[name] for name in names))
    expect("a failed receipt has a message", failed, bool(record["message"]))
    expect("rejected rows", receipt.rows, [item["row"] for item in record["rejections"]])


def see_training(actor: Actor, model: TrainedModel, record: Record) -> None:
    """Compare a training's record; if it has ended, also its figures and labels."""
    # An import learns what it is when its file is read.
    is_unread = model.is_imported and record["status"] != "SUCCEEDED"
    kind = "text-unknown" if is_unread else model.dataset.type
    expected = {
        "modelId": model.id,
        "name": model.name,
        "datasetId": model.dataset.id,
        "datasetVersionId": 0,
        "createdAt": model.created_at,
        "modelType": kind,
        "language": "N/A" if is_unread else "en_US",
        "learningRate": 0,
        "trainParams": trained_with(model),
        "algorithm": None if is_unread or kind != INTENT else "intent",
        "object": "training",
    }
    expect("training", expected, {name: record.get(name) for name in expected})
    status = record["status"]
    expect("queuePosition only of QUEUED", status == "QUEUED", "queuePosition" in record)
    if status in OPEN:
        expect("the model may be QUEUED or RUNNING", True, model.is_open)
        expect("trainStats of an open training", None, record["trainStats"])
        return
    if model.has_failed or status == "FAILED":
        see_failure(model, record)
        return
    expect("end of a training", ("SUCCEEDED", 1), (status, record["progress"]))
    if model.is_open:
        _settle(actor, model, record)


def see_failure(model: TrainedModel, record: Record) -> None:
    """Compare a training that failed for too few examples after a correction."""
    expect("a failed training", "FAILED", record["status"])
    if model.is_adjusting or model.is_imported:
        raise Divergence(f"an adjustment or import failed: {record['failureMsg']}")
    expect("a failed training says why", True, bool(record["failureMsg"]))
    if model.is_open:
        expect("too little may have been left", True, any(not w.is_enough for w in model.windows))
        model.is_open, model.has_failed = False, True
        model.served = model.served_meanwhile or model.served
        model.served_meanwhile = 0


def trained_with(model: TrainedModel) -> Record | None:
    """Return the requested parameters of a training."""
    if model.is_imported:
        return None
    parameters: Record = {"withFeedback": len(model.sources) > 1, "profile": "fast"}
    return parameters | ({} if model.minimum is None else {"minimumExamples": model.minimum})


def _settle(actor: Actor, model: TrainedModel, record: Record) -> None:
    """Record the end of a training: its examples, labels and metrics."""
    if model.is_imported or model.is_adjusting:
        _settle_version(actor, model)
        return
    stats = record["trainStats"]
    trained, held_out = stats["trainSplitSize"], stats["testSplitSize"]
    sums = {trained + held_out}
    if model.minimum is not None and held_out <= trained:
        # A training with the names of labels uses every example. It leaves out in turn those
        # whose label has another one.
        sums.add(trained)
    expect("the parts of the examples", True, stats["examples"] in sums)
    expect("epochs", record["epochs"], stats["lastEpochDone"])
    metrics = _read_newest(actor, model)
    found = stats["examples"], metrics["labels"]
    if not any(_fits(window, *found) for window in model.windows):
        raise Divergence(
            f"what a training found\n  expected one of: {model.windows}\n  got: {found}"
        )
    expect("number of labels", len(metrics["labels"]), stats["labels"])
    tested = sum(map(sum, metrics["confusionMatrix"]))
    expect("tested examples", stats["testSplitSize"], tested)
    _add_version(actor, model, metrics["labels"])


def _settle_version(actor: Actor, model: TrainedModel) -> None:
    """Record the end of an adjustment or import, whose version has the labels of another one."""
    labels = _read_newest(actor, model)["labels"]
    numbers = (model.served, model.served_meanwhile)
    found = [one.labels for one in model.versions if one.number in numbers and one.is_seen]
    if model.is_adjusting and len(found) == len({*numbers} - {0}):
        expect("labels of an adjusted version are those of its base", True, labels in found)
    _add_version(actor, model, labels)


def _read_newest(actor: Actor, model: TrainedModel) -> Record:
    """Read the metrics of the version that a run created."""
    request = get(model_path(model), modelVersion=model.last_version + 1)
    metrics: Record = actor.call(request, {200}).data["metricsData"]
    return metrics


def _add_version(actor: Actor, model: TrainedModel, labels: list[str]) -> None:
    """Record the version that a run created; a version served meanwhile may have stayed."""
    meanwhile, model.is_open = model.served_meanwhile, False
    made = model.add_version(labels)
    if meanwhile:
        records = actor.call(get(model_path(model, "/versions")), {200}).data["data"]
        (served,) = [one["version"] for one in records if one["isServed"]]
        expect("the served version", True, served in (made.number, meanwhile))
        model.served = served


def _fits(window: Window, examples: int, labels: list[str]) -> bool:
    """Return whether a training can have seen this many examples."""
    is_in = window.least <= examples <= window.most
    return is_in and window.labels[: len(labels)] == labels


def see_deletion(actor: Actor, kind: str, owner: Dataset | TrainedModel, record: Record) -> None:
    """Compare a deletion's record; a dataset whose deletion SUCCEEDED is gone."""
    expect("members of a deletion", DELETION, list(record))
    owner.deletion_id = owner.deletion_id or record["id"]
    expected = (owner.deletion_id, kind, str(owner.id), "deletion", None)
    names = ("id", "type", "deletedObjectId", "object", "message")
    expect("deletion", expected, tuple(record[name] for name in names))
    end = deletion_end(owner)
    expect("state of a deletion", True, record["status"] in ("QUEUED", "RUNNING", end))
    is_over = record["status"] == end
    expect("progress 1 at the end alone", is_over, record["progress"] == 1)
    if isinstance(owner, Dataset):
        if owner.is_gone:
            expect("a deletion stays over", True, is_over)
        owner.is_gone = owner.is_gone or is_over


def deletion_end(owner: Dataset | TrainedModel) -> str:
    """Return the state in which a deletion ends."""
    is_cached = isinstance(owner, Dataset) and owner.was_given_out
    return DELETED_BUT_CACHED if is_cached else DELETED


def see_probabilities(answer: Record, labels: Iterable[Sequence[str]], number: int | None) -> None:
    """Compare a prediction's labels with those of all versions that may have answered."""
    items = answer["probabilities"]
    shares = [item["probability"] for item in items]
    names = [item["label"] for item in items]
    expect("falling probabilities", sorted(shares, reverse=True), shares)
    expect("labels stand there once", len(names), len(set(names)))
    fits = [
        set(names) <= set(one) and len(names) == min(number or len(one), len(one)) for one in labels
    ]
    if not any(fits):
        raise Divergence(f"labels of a prediction\n  expected: {list(labels)}\n  got: {names}")
    if number is None:
        expect("probabilities add up to one", 1.0, round(sum(shares), 3))
