"""Operations that correct datasets: names, labels, examples and bulk corrections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tests.flows.histories.actor import (
    Actor,
    Request,
    as_json,
    dataset_path,
    delete,
    expect,
)
from tests.flows.histories.comparisons import see_dataset, see_example
from tests.flows.histories.data_operations import LABELS, TEXTS, read_dataset
from tests.flows.histories.model_operations import wait_training
from tests.flows.histories.other_operations import wait_dataset
from tests.flows.histories.specification import (
    INTENT,
    SENTIMENTS,
    Dataset,
    Item,
    Label,
    allowed,
)

NEW_NAMES = (*LABELS, "warm", "chill")
UNKNOWN_LABEL, UNKNOWN_EXAMPLE = 2_000_000_000, 2_000_000_001


def as_put(path: str, payload: object) -> Request:
    """Describe a PUT with a JSON body."""
    return replace(as_json(path, payload), method="PUT")


@dataclass
class Counts:
    """The expected counts in the answer of a correction."""

    moved: int = 0
    changed: int = 0
    removed: int = 0
    duplicates: int = 0


@contextmanager
def corrected(actor: Actor, dataset: Dataset) -> Iterator[None]:
    """Record a correction in the open trainings, which may have started before or after it."""
    dataset.finish()
    expect("only a usable dataset is corrected", True, dataset.is_usable)
    trained = [one for one in actor.models if one.dataset is dataset and one.is_open]
    for model in trained:
        model.end_window()
    yield
    for model in trained:
        model.begin_window()


def settle(actor: Actor, dataset: Dataset) -> bool:
    """Usually wait for a file; return whether the dataset's content is certain."""
    if dataset.waiting is not None and actor.random.random() < 0.85:
        wait_dataset(actor, dataset)
    return dataset.waiting is None


def rename_dataset(actor: Actor, dataset: Dataset) -> None:
    """Rename a dataset, also while a file is being read."""
    name = actor.random.choice((actor.new_name(), dataset.name, " "))
    bad = [] if name.strip() else [(400, True)]
    obstacles = [*dataset.unreadable, *bad]
    answer = actor.call(as_put(dataset_path(dataset), {"name": name}), allowed(obstacles))
    if answer.status == 200:
        dataset.name = name
        see_dataset(dataset, answer.data)


def rename_label(actor: Actor, dataset: Dataset) -> None:
    """Rename a label to a new name, its own, a former one, or another label's."""
    label = pick_known_label(actor, dataset)
    if label is None or not settle(actor, dataset):
        read_dataset(actor, dataset)
        return
    names = NEW_NAMES if dataset.type == INTENT else (*SENTIMENTS, "angry")
    name = actor.random.choice((*names, *label.former, label.name))
    bearer = dataset.label_called(name)
    obstacles = [*dataset.unreadable]
    obstacles += [] if dataset.label_name(name) else [(400, True)]
    obstacles += dataset.unready
    obstacles += [(409, True)] if bearer is not None and bearer is not label else []
    path = label_path(dataset, label.id)
    answer = actor.call(as_put(path, {"name": name}), allowed(obstacles))
    if answer.status == 200:
        with corrected(actor, dataset):
            label.rename(name)
        see_label(dataset, label, answer.data, 0, 0)
        read_dataset(actor, dataset)


def merge_label(actor: Actor, dataset: Dataset) -> None:
    """Merge a label into another; rarely into itself or an unknown one."""
    label, target = pick_known_label(actor, dataset), pick_known_label(actor, dataset)
    if label is None or target is None or not settle(actor, dataset):
        read_dataset(actor, dataset)
        return
    into = UNKNOWN_LABEL if actor.random.random() < 0.1 else target.id
    obstacles = [*dataset.unreadable]
    obstacles += [(404, True)] if into == UNKNOWN_LABEL else []
    obstacles += [(400, True)] if target is label else []
    request = as_put(label_path(dataset, label.id), {"mergeInto": into})
    answer = actor.call(request, allowed([*obstacles, *dataset.unready]))
    if answer.status != 200:
        return
    number, duplicates = label.count(), 0
    with corrected(actor, dataset):
        dataset.labels.remove(label)
        target.rename(target.name, [*label.former, label.name])
        for source, examples in label.examples.items():
            duplicates += sum(target.put(source, example) for example in examples)
    see_label(dataset, target, answer.data, number, duplicates)
    actor.call(delete(label_path(dataset, label.id)), {404})
    read_dataset(actor, dataset)


def remove_label(actor: Actor, dataset: Dataset) -> None:
    """Remove a label with its examples."""
    label = pick_known_label(actor, dataset)
    if label is None or not settle(actor, dataset):
        read_dataset(actor, dataset)
        return
    obstacles = [*dataset.unreadable, *dataset.unready]
    answer = actor.call(delete(label_path(dataset, label.id)), allowed(obstacles))
    if answer.status == 200:
        with corrected(actor, dataset):
            dataset.labels.remove(label)
        see_counts(dataset, answer.data, Counts(removed=label.count()))
        read_dataset(actor, dataset)


def change_example(actor: Actor, dataset: Dataset) -> None:
    """Move or edit an example, or both; it may become equal to another."""
    items = known_items(dataset)
    if not items or not settle(actor, dataset):
        read_dataset(actor, dataset)
        return
    item = actor.random.choice(items)
    fields: dict[str, object] = {}
    text, target = item[2].text, item[0]
    if actor.random.random() < 0.5:
        text = actor.random.choice((*TEXTS, "reworded", " "))
        fields["document"] = text
    if not fields or actor.random.random() < 0.5:
        target = pick_known_label(actor, dataset) or item[0]
        fields |= named(actor, target)
    obstacles = [*dataset.unreadable, *([] if text.strip() else [(400, True)])]
    request = as_put(example_path(dataset, item[2].id), fields)
    answer = actor.call(request, allowed([*obstacles, *dataset.unready]))
    if answer.status == 200:
        change = Change(item, target, text)
        with corrected(actor, dataset):
            counts = apply([change])
        see_counts(dataset, answer.data, counts, change)
        read_dataset(actor, dataset)


def remove_example(actor: Actor, dataset: Dataset) -> None:
    """Remove an example, possibly one that does not exist."""
    items = known_items(dataset)
    if not items or not settle(actor, dataset):
        actor.call(delete(example_path(dataset, UNKNOWN_EXAMPLE)), {404})
        return
    item = actor.random.choice(items)
    path = example_path(dataset, item[2].id)
    answer = actor.call(delete(path), allowed([*dataset.unreadable, *dataset.unready]))
    if answer.status == 200:
        with corrected(actor, dataset):
            counts = apply([Change(item, None)])
        see_counts(dataset, answer.data, counts)
        actor.call(delete(path), {404})
        read_dataset(actor, dataset)


def correct(actor: Actor, dataset: Dataset) -> None:
    """Move and remove several examples; one invalid correction refuses all."""
    items = known_items(dataset)
    if not items or not settle(actor, dataset):
        read_dataset(actor, dataset)
        return
    chosen = actor.random.sample(items, min(len(items), actor.random.choice((1, 3, 8, 40))))
    changes = [pick_change(actor, dataset, item) for item in chosen]
    sent = [change.sent for change in changes]
    obstacles = [*dataset.unreadable]
    if actor.random.random() < 0.2:
        status, bad = bad_correction(actor, dataset, sent[0])
        sent.append(bad)
        obstacles.append((status, True))
    answer = actor.call(corrections_request(dataset, sent), allowed([*obstacles, *dataset.unready]))
    if answer.status == 200:
        with corrected(actor, dataset):
            counts = apply(changes)
        see_counts(dataset, answer.data, counts)
    read_dataset(actor, dataset)


def correct_from_report(actor: Actor, dataset: Dataset) -> None:
    """Apply the corrections that a model's report suggests, as shown by browsing."""
    trained = [one for one in actor.models if one.dataset is dataset and not one.deletion_id]
    if not trained or dataset.deletion_id:
        read_dataset(actor, dataset)
        return
    model = actor.random.choice(trained)
    wait_training(actor, model)
    wait_dataset(actor, dataset)
    path = dataset_path(dataset, "/browse")
    if model.labels is None or not dataset.is_usable:
        return
    suspects = actor.client.items(f"{path}?suspectsOf={model.id}&source=all")
    by_id = {item[2].id: item for item in known_items(dataset)}
    confidence = actor.random.choice((0.5, 0.0, 0.9))
    changes = []
    for one in suspects:
        item = by_id.get(one["id"])
        if item is None:
            # Its id is not known yet: the next page that shows it has it.
            return
        expect("label of a suspect", item[0].name, one["label"]["name"])
        target = dataset.label(one["suggestion"]) if one["reason"] == "otherLabel" else None
        if one["confidence"] >= confidence and target is not None:
            changes.append(Change(item, target))
    fields = {"fromReportOf": model.id, "minimumConfidence": confidence}
    answer = actor.call(as_json(dataset_path(dataset, "/corrections"), fields), {200})
    with corrected(actor, dataset):
        counts = apply(changes)
    see_counts(dataset, answer.data, counts)
    read_dataset(actor, dataset)


@dataclass
class Change:
    """A change of an example; without a label the example is removed."""

    item: Item
    label: Label | None
    text: str = ""
    """Its text from then on; empty leaves its own."""
    sent: dict[str, object] = field(default_factory=dict)
    """The correction on the wire."""

    @property
    def new_text(self) -> str:
        """The text of the example after the change."""
        return self.text or self.item[2].text


def apply(changes: Iterable[Change]) -> Counts:
    """Apply changes at once: first remove all examples, then add them to their new labels."""
    counts, coming = Counts(), []
    for change in changes:
        (old, source, example), new = change.item, change.label
        if new is old and change.new_text == example.text:
            continue
        old.examples[source].remove(example)
        if new is None:
            counts.removed += 1
            continue
        counts.moved += new is not old
        counts.changed += new is old
        example.text = change.new_text
        coming.append((new, source, example))
    for label, source, example in coming:
        counts.duplicates += label.put(source, example)
    return counts


def pick_change(actor: Actor, dataset: Dataset, item: Item) -> Change:
    """Choose a change of an example."""
    sent: dict[str, object] = {"exampleId": item[2].id}
    target = pick_known_label(actor, dataset)
    if target is None or actor.random.random() < 0.25:
        return Change(item, None, sent=sent | {"remove": True})
    return Change(item, target, sent=sent | named(actor, target))


def bad_correction(
    actor: Actor, dataset: Dataset, first: dict[str, object]
) -> tuple[int, dict[str, object]]:
    """Choose an invalid correction that refuses the whole call, with the expected status."""
    unknown = {"exampleId": UNKNOWN_EXAMPLE}
    bad = (
        (400, first),
        (400, unknown),
        (400, unknown | {"label": "no such label"}),
        (400, unknown | {"label": dataset.labels[0].name, "remove": True}),
        (404, unknown | {"remove": True}),
        (404, unknown | {"labelId": UNKNOWN_LABEL}),
    )
    return actor.random.choice(bad)


def corrections_request(dataset: Dataset, sent: list[dict[str, object]]) -> Request:
    """Describe a call with corrections."""
    return as_json(dataset_path(dataset, "/corrections"), {"corrections": sent})


def named(actor: Actor, label: Label) -> dict[str, object]:
    """Return a label's id or its name."""
    return {"labelId": label.id} if actor.random.random() < 0.5 else {"label": label.name}


def pick_known_label(actor: Actor, dataset: Dataset) -> Label | None:
    """Choose a label with a known id."""
    known = [label for label in dataset.labels if label.id]
    return actor.random.choice(known) if known else None


def known_items(dataset: Dataset) -> list[Item]:
    """List the examples with known ids."""
    return [item for item in dataset.listing() if item[2].id]


def label_path(dataset: Dataset, label_id: int) -> str:
    """Return the path of the call that corrects a label."""
    return dataset_path(dataset, f"/labels/{label_id}")


def example_path(dataset: Dataset, example_id: int) -> str:
    """Return the path of the call that corrects an example."""
    return dataset_path(dataset, f"/examples/{example_id}")


def see_label(
    dataset: Dataset, label: Label, record: dict[str, Any], moved: int, duplicates: int
) -> None:
    """Compare a label after a change."""
    expected = {
        "id": label.id,
        "datasetId": dataset.id,
        "name": label.name,
        "numExamples": label.count(),
        "moved": moved,
        "duplicates": duplicates,
    }
    expect(f"changed label of dataset {dataset.id}", expected, record)


def see_counts(
    dataset: Dataset, record: dict[str, Any], counts: Counts, change: Change | None = None
) -> None:
    """Compare the counts in an answer, and the example that it shows."""
    expected = {"datasetId": dataset.id, "object": "correction", **vars(counts)}
    expect(f"correction of dataset {dataset.id}", expected, {one: record[one] for one in expected})
    if change is None or change.label is None:
        return
    source = change.item[1]
    left = change.label.find(change.new_text, source)
    assert left is not None
    (shown,) = record["examples"]
    see_example(dataset, (change.label, source, left), shown)


def lose_correction(actor: Actor, dataset: Dataset) -> None:
    """Make a correction whose reply is lost, then repeat it: it must be applied once."""
    items = known_items(dataset)
    if not items or dataset.deletion_id:
        read_dataset(actor, dataset)
        return
    wait_dataset(actor, dataset)
    item = actor.random.choice(known_items(dataset))
    target = pick_known_label(actor, dataset) or item[0]
    sent = {"exampleId": item[2].id, "labelId": target.id}
    request = corrections_request(dataset, [sent])
    actor.lose(request, is_done=True)
    with corrected(actor, dataset):
        apply([Change(item, target)])
    is_there = target.find(item[2].text, item[1]) is item[2]
    answer = actor.call(request, {200} if is_there else {404})
    if is_there:
        see_counts(dataset, answer.data, Counts())
    read_dataset(actor, dataset)
