"""Operations on filtered lists, failed datasets and exports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection

from tests.flows.client import LANGUAGE, OPEN, opened
from tests.flows.histories.actor import (
    Actor,
    Divergence,
    as_form,
    as_json,
    dataset_path,
    delete,
    expect,
    get,
)
from tests.flows.histories.comparisons import see_dataset, see_deletion
from tests.flows.histories.data_operations import read_dataset
from tests.flows.histories.other_operations import wait_dataset
from tests.flows.histories.specification import SOURCES, Dataset, Row, TrainedModel, allowed

MOST_EXPORTS = 10
"""Of an account, that can be fetched."""
PAGE = 25


def filter_datasets(actor: Actor) -> None:
    """List datasets by part of their name, by status, or both."""
    part = actor.random.choice(("", actor.name.upper(), str(actor.random.randrange(10))))
    status = actor.random.choice((None, "SUCCEEDED", "FAILED", "UPLOADING", "DELETION_PENDING"))
    query = {name: value for name, value in (("name", part), ("status", status)) if value}
    records = actor.call(get(f"{LANGUAGE}/datasets", count=PAGE, **query), {200}).data["data"]
    named = [one for one in actor.datasets if part.lower() in one.name.lower()]
    certain = [one.id for one in named if one.waiting is None and not one.deletion_id
               and status in (None, dataset_status(one))]  # fmt: skip
    possible = [one.id for one in named if not one.is_gone and may_have(one, status)]
    see_chosen("filtered datasets", certain, possible, [record["id"] for record in records])
    by_id = {one.id: one for one in actor.datasets}
    for record in records:
        see_dataset(by_id[record["id"]], record)


def dataset_status(dataset: Dataset) -> str:
    """Return the state of a dataset that is neither being read nor deleted."""
    return "FAILED" if dataset.has_failed else "SUCCEEDED"


def may_have(dataset: Dataset, status: str | None) -> bool:
    """Return whether a list by status may show a dataset."""
    if dataset.deletion_id:
        return status in (None, "DELETION_PENDING")
    if dataset.waiting is not None:
        return status in (None, "UPLOADING", dataset_status(dataset.finished()))
    return status in (None, dataset_status(dataset))


def filter_models(actor: Actor) -> None:
    """List the account's models by part of their name, by status, or both."""
    part = actor.random.choice(("", actor.name.upper(), str(actor.random.randrange(10))))
    status = actor.random.choice((None, "SUCCEEDED", "FAILED", "QUEUED", "RUNNING"))
    query = {name: value for name, value in (("name", part), ("status", status)) if value}
    records = actor.call(get(f"{LANGUAGE}/models", count=100, **query), {200}).data["data"]
    named = [one for one in actor.models if part.lower() in one.name.lower()]
    named = [one for one in named if not one.deletion_id]
    named.sort(key=lambda one: (one.created_at, one.id))
    certain = [one.id for one in named if not one.is_open and status in (None, model_status(one))]
    possible = [one.id for one in named if one.is_open or status in (None, model_status(one))]
    certain = [one.id for one in named if one.id in certain or (one.is_open and status is None)]
    see_chosen("filtered models", certain, possible, [record["modelId"] for record in records])
    wanted = (*OPEN, "SUCCEEDED", "FAILED") if status is None else (status,)
    expect("states of filtered models", True, all(one["status"] in wanted for one in records))


def model_status(model: TrainedModel) -> str:
    """Return the state of a model that is not in training."""
    return "FAILED" if model.has_failed else "SUCCEEDED"


def see_chosen(
    what: str, certain: Collection[object], possible: Collection[object], got: Collection[object]
) -> None:
    """Compare a list in which some records are optional."""
    fits = set(certain) <= set(got) or len(got) >= PAGE
    if not fits or [one for one in possible if one in got][: len(got)] != list(got):
        raise Divergence(f"{what}\n  expected: {certain} to {possible}\n  got: {got}")


def delete_failed(actor: Actor) -> None:
    """Delete the datasets whose first upload failed."""
    request = delete(f"{LANGUAGE}/datasets")
    if actor.random.random() < 0.3:
        bad = actor.random.choice(("", "?status=SUCCEEDED", "?status=failed"))
        actor.call(delete(f"{LANGUAGE}/datasets{bad}"), {400})
        return
    records = actor.call(delete(f"{request.path}?status=FAILED"), {200}).data["data"]
    living = [one for one in actor.datasets if not one.deletion_id]
    certain = [one for one in living if one.waiting is None and not one.is_usable]
    possible = [one for one in living if one.waiting is not None or not one.is_usable]
    possible = [one for one in possible if not one.finished().is_usable]
    deleted = [int(record["deletedObjectId"]) for record in records]
    ids = [one.id for one in certain], sorted(one.id for one in possible)
    see_chosen("deleted failures", *ids, deleted)
    by_id = {one.id: one for one in living}
    for number, record in zip(deleted, records, strict=True):
        see_deletion(actor, "DATASET", by_id[number], record)


def export(actor: Actor, dataset: Dataset) -> None:
    """Export a dataset, compare the file's content, and upload it as a new dataset."""
    wait_dataset(actor, dataset)
    kind, source = actor.random.choice(("csv", "jsonl")), actor.random.choice(("all", *SOURCES))
    sources = SOURCES if source == "all" else (source,)
    rows = [(one.text, label.name) for label, _, one in dataset.listing(sources)]
    obstacles = [*dataset.missing]
    obstacles += [(409, True)] if dataset.deletion_id else []
    obstacles += [] if rows else [(400, True)]
    obstacles += [(429, False)] if actor.exports >= MOST_EXPORTS else []
    request = as_json(dataset_path(dataset, "/exports"), {"format": kind, "source": source})
    answer = actor.call(request, allowed(obstacles))
    if answer.status != 200:
        read_dataset(actor, dataset)
        return
    actor.exports += 1
    path = dataset_path(dataset, f"/exports/{answer.data['id']}")
    record = actor.settled(path, lambda one: one["status"] in ("SUCCEEDED", "FAILED"))
    expect("state of an export", "SUCCEEDED", record["status"])
    dataset.was_given_out = True
    with opened(record["url"]) as file:
        content = file.read()
    expect("exported rows", rows, exported_rows(kind, content))
    upload_again(actor, dataset, kind, content, rows)


def exported_rows(kind: str, content: bytes) -> list[Row]:
    """Parse an export without the service's code."""
    text = content.decode()
    if kind == "csv":
        return [(row[0], row[1]) for row in csv.reader(io.StringIO(text, newline=""))][1:]
    found = (json.loads(line) for line in text.splitlines())
    return [(one["text"], one["label"]) for one in found]


def upload_again(
    actor: Actor, dataset: Dataset, kind: str, content: bytes, rows: list[Row]
) -> None:
    """Upload an export, which must give the same examples with the same labels."""
    made = Dataset(actor.new_name(), dataset.type, is_uploaded=True)
    fields: dict[str, object] = {"name": made.name, "type": made.type}
    files = {"data": (f"again.{kind}", content)}
    request = as_form("POST", f"{LANGUAGE}/datasets/upload/sync", fields, files)
    answer = actor.call(request, {200, 429})
    if answer.status == 200:
        made.begin(rows)
        made.finish()
        see_dataset(made, answer.data)
        actor.datasets.append(made)
