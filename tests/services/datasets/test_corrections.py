"""Correcting examples of datasets that are read and extended at the same time."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from itertools import count
from threading import Barrier
from typing import Any

import pytest

from chalicelib.domain.datasets.corrections import Correction, ExampleNotFound
from chalicelib.domain.datasets.dataset import SOURCES, DatasetView
from chalicelib.domain.datasets.fields import count_words
from chalicelib.errors import InvalidParameter, LabelNotFound
from chalicelib.stores.aws.tables import ExampleChunkRow
from tests.builders import World, a_model, a_source, some_rows

# Texts of each label whose correction is measured; the bar is of 40,000.
MANY = int(os.environ.get("PRESAGE_TEST_MANY", "5000"))


@dataclass
class Model:
    """The content of a dataset according to the specification: labels in order, examples by id."""

    labels: list[int]
    examples: dict[int, tuple[str, int, str]] = field(default_factory=dict)
    """Source, label and text by id."""

    def listed(self, source: str) -> list[tuple[int, int, str]]:
        """Return id, label and text in list order."""
        mine = [(i, label, text) for i, (s, label, text) in self.examples.items() if s == source]
        return sorted(mine, key=lambda one: (self.labels.index(one[1]), one[0]))

    def put(self, number: int, source: str, label: int, text: str) -> None:
        """Move or change an example; of equal examples the lower id stays."""
        self.examples[number] = source, label, text
        same = [i for i, one in self.examples.items() if one == (source, label, text)]
        for other in sorted(same)[1:]:
            del self.examples[other]


def listed(world: World, view: DatasetView, source: str) -> list[tuple[int, int, str]]:
    """List a whole source page by page."""
    found: list[tuple[int, int, str]] = []
    more = True
    while more:
        page = world.container.examples.list_dataset(
            world.account, world.get(view), source, len(found), 100
        )
        found += [(i.example.example_id, i.label.label_id, i.example.name) for i in page.items]
        more = page.has_more
    return found


def agree(world: World, view: DatasetView, model: Model) -> None:
    """Compare lists, counts, words and bytes with the model."""
    now = world.another().get(view)
    for source in SOURCES:
        assert listed(world.another(), view, source) == model.listed(source)
    held = list(model.examples.values())
    counts = {label: sum(one[1] == label for one in held) for label in model.labels}
    assert {label.label_id: label.examples for label in now.labels} == counts
    assert now.dataset.bytes == sum(len(text.encode()) for _, _, text in held)
    words = {s: sum(count_words(t, "en_US") for u, _, t in held if u == s) for s in SOURCES}
    assert (now.dataset.words_upload, now.dataset.words_feedback) == tuple(words.values())


@pytest.fixture
def view(world: World) -> DatasetView:
    """Three labels: one with more than two chunks, one with one, one with a few texts."""
    rows = some_rows({"a": 230, "b": 104, "c": 7})
    return world.once("corrected", lambda: world.dataset(rows))


def modelled(world: World, view: DatasetView) -> Model:
    """Read the content of a dataset into a model."""
    model = Model([label.label_id for label in view.labels])
    for source in SOURCES:
        for number, label, text in listed(world, view, source):
            model.examples[number] = source, label, text
    return model


def step(world: World, view: DatasetView, model: Model, dice: random.Random) -> None:
    """Apply one operation to both."""
    corrections, now = world.container.corrections, world.get(view)
    number = dice.choice(sorted(model.examples))
    source, label, text = model.examples[number]
    target = dice.choice(model.labels)
    kind = dice.choice(["move", "move", "text", "remove", "add", "feedback", "many"])
    if kind == "move":
        corrections.change_example(now, Correction(number, label_id=target))
        model.put(number, source, target, text)
    elif kind == "text":
        other = dice.choice(
            [f"another {number}", model.examples[dice.choice([*model.examples])][2]]
        )
        corrections.change_example(now, Correction(number), other)
        model.put(number, source, label, other)
    elif kind == "remove":
        corrections.remove_example(now, number)
        del model.examples[number]
    elif kind == "add":
        added = world.container.examples.add_text(world.account, now, f"new {number}", target, None)
        model.examples[added.example.example_id] = "upload", target, f"new {number}"
    elif kind == "feedback":
        name = now.label(target).name
        added = world.container.feedback.add_text(world.account, a_model(view), text, name)
        model.examples[added.example.example_id] = "feedback", target, text
    else:
        many(corrections, now, model, dice)


def many(corrections: Any, now: DatasetView, model: Model, dice: random.Random) -> None:
    """Correct several examples at once, each to a unique text."""
    numbers = dice.sample(sorted(model.examples), 20)
    target = dice.choice(model.labels)
    corrections.correct(
        now,
        [
            Correction(i, label_id=target) if place % 3 else Correction(i, is_removed=True)
            for place, i in enumerate(numbers)
        ],
    )
    for i in numbers[::3]:
        del model.examples[i]
    for i in sorted(set(numbers) - set(numbers[::3])):
        if i in model.examples:
            source, _, text = model.examples[i]
            model.put(i, source, target, text)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_corrections_match_the_model(world: World, view: DatasetView, seed: int) -> None:
    """After any history, lists, pages, counts, words and bytes are those of the model."""
    dice = random.Random(seed)
    model = modelled(world, view)

    for number in range(40):
        step(world, view, model, dice)
        if number % 10 == 9:
            agree(world, view, model)
    rows = [("after all", "a"), ("after all", "b"), *some_rows({"c": 3})]
    before = world.get(view)
    world.container.uploads.add(world.account, before, a_source(rows))
    world.work()
    held = {one for one in model.examples.values() if one[0] == "upload"}
    kept = [(t, view.label_named(n).label_id) for t, n in rows]
    new = [(t, label) for t, label in kept if ("upload", label, t) not in held]
    assert world.get(view).dataset.total == len(model.examples) + len(new)

    world.settle()

    model = modelled(world, view)
    agree(world, view, model)
    layouts = {-c.layout(s) for c in world.get(view).dataset.counts for s in SOURCES}
    left = [row for row in world.rows(ExampleChunkRow) if row.number < 0]
    assert {int(row.number) for row in left} == layouts - {0}


def test_ids_sources_and_order_stay(world: World, view: DatasetView) -> None:
    """A moved example keeps its id, source and order in its new label."""
    first, second, _ = view.labels
    before = listed(world, view, "upload")

    done = world.container.corrections.change_example(view, Correction(before[4][0], label="b"))

    assert (done.moved, [e.example_id for e in done.examples]) == (1, [before[4][0]])
    after = listed(world, view, "upload")
    assert sorted(i for i, _, _ in after) == sorted(i for i, _, _ in before)
    assert after[229] == (before[4][0], second.label_id, before[4][2])
    assert first.examples - 1 == world.get(view).label(first.label_id).examples


def test_all_of_a_label_goes_or_moves(world: World, view: DatasetView) -> None:
    """A merge moves all examples and the name; removing a label removes its examples."""
    first, second, third = view.labels
    model = modelled(world, view)

    done = world.container.corrections.remove_label(view, second, first)
    for number in [i for i, one in model.examples.items() if one[1] == second.label_id]:
        source, _, text = model.examples[number]
        model.put(number, source, first.label_id, text)
    model.labels.remove(second.label_id)

    assert done.moved == 104
    agree(world, view, model)
    now = world.get(view)
    assert now.label_named("b") == now.label(first.label_id)
    world.container.corrections.remove_label(now, third)
    assert [label.name for label in world.get(view).labels] == ["a"]
    assert world.get(view).dataset.total == 334
    world.settle()
    world.container.deletions.delete_dataset(world.account, "language", view.dataset.dataset_id)
    world.settle()
    assert world.traces(view.dataset.dataset_id) == []
    assert world.traces(second.label_id) == []


def test_corrections_are_all_or_none(world: World, view: DatasetView) -> None:
    """With one invalid item nothing changes."""
    numbers = [i for i, _, _ in listed(world, view, "upload")[:3]]
    before = listed(world, view, "upload")
    correct, fine = world.container.corrections.correct, Correction(numbers[0], label="b")

    with pytest.raises(ExampleNotFound):
        correct(view, [fine, Correction(1, label="b")])
    with pytest.raises(InvalidParameter, match=r"corrections\[1\].*twice"):
        correct(view, [fine, fine])
    with pytest.raises(InvalidParameter, match=r"corrections\[1\].label.*not a label"):
        correct(view, [fine, Correction(numbers[1], label="x")])
    with pytest.raises(LabelNotFound):
        correct(view, [fine, Correction(numbers[1], label_id=1)])
    with pytest.raises(InvalidParameter, match="one of them"):
        correct(view, [fine, Correction(numbers[1])])
    with pytest.raises(InvalidParameter, match="itself"):
        world.container.corrections.remove_label(view, view.labels[0], view.labels[0])

    assert listed(world, view, "upload") == before
    assert world.get(view).dataset.last_correction == 0


def test_one_correction_among_many_costs_little(world: World) -> None:
    """In labels of 5,000 texts, a move reads and writes at most 200 kB."""
    texts = random.Random(7)
    words = [f"{texts.getrandbits(30):x}" for _ in range(3_000)]
    rows = [
        (" ".join(texts.sample(words, 18))[:200], label)
        for label in ("a", "b")
        for _ in range(MANY)
    ]
    view = world.dataset(rows)
    number, _, _ = listed(world, view, "upload")[MANY // 3]
    fresh = world.another()
    moved: list[tuple[str, int]] = []

    def sent(params: Any, model: Any, **_: Any) -> None:
        body = params.get("body") or b""
        moved.append((model.name, len(body)))

    def received(http_response: Any, model: Any, **_: Any) -> None:
        is_object = model.name == "GetObject"
        length = http_response.headers["content-length"] if is_object else 0
        moved.append((model.name, int(length) or len(http_response.content)))

    clients = fresh.stores.clients
    for client in (clients.dynamodb, clients.s3):
        client.meta.events.register("before-call", sent)
        client.meta.events.register("after-call", received)
    fresh.container.corrections.change_example(fresh.get(view), Correction(number, label="b"))
    for client in (clients.dynamodb, clients.s3):
        client.meta.events.unregister("before-call", sent)
        client.meta.events.unregister("after-call", received)

    assert 20_000 < sum(size for _, size in moved) <= 200_000, moved
    assert [label.examples for label in world.get(view).labels] == [MANY - 1, MANY + 1]


def test_receipts_list_only_committed_corrections(world: World, view: DatasetView) -> None:
    """A correction that crashed before its commit has no receipt, even after a later commit."""
    first, second, third = (i for i, _, _ in listed(world, view, "upload")[:3])
    world.container.corrections.remove_example(view, first)
    leases = world.stores.dataset_leases
    commit = leases.commit_correction

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    leases.commit_correction = die
    with pytest.raises(KeyboardInterrupt):
        world.container.corrections.remove_example(world.get(view), second)
    leases.commit_correction = commit
    world.clock.advance(minutes=5)
    done = world.container.corrections.change_example(world.get(view), Correction(third, label="c"))

    page = world.another().container.receipts.corrections(world.get(view), 0, 25)
    assert [(one.removed, one.moved) for one in page.items] == [(0, 1), (1, 0)]
    assert page.items[0].correction_id == done.correction_id
    assert page.items[0].created_at == world.clock()
    world.settle()
    assert len(world.container.receipts.corrections(world.get(view), 0, 25).items) == 2


def test_chunks_of_one_label_are_written_in_parallel(world: World) -> None:
    """10,000 corrections of one label finish within the gateway's time, since writes overlap."""
    view = world.dataset(some_rows({"a": 1_000, "b": 5}))
    numbers = [i for i, _, _ in listed(world, view, "upload")[:1_000:100]]
    # The first four writes wait for each other, which they can only while none has ended.
    turns, together, met = count(), Barrier(4, timeout=60), []

    def begin(model: Any, **_: Any) -> None:
        if model.name == "PutItem" and next(turns) < 4:
            met.append(together.wait())

    events = world.stores.clients.dynamodb.meta.events
    events.register_first("before-call", begin)
    world.container.corrections.correct(view, [Correction(i, is_removed=True) for i in numbers])
    events.unregister("before-call", begin)

    assert len(met) == 4
    assert world.get(view).labels[0].examples == 990
