"""Chunks of examples: positions, boundaries, long bodies, fences, duplicates."""

from __future__ import annotations

import random
from collections.abc import Iterator
from threading import Barrier
from typing import Any

import pytest
from botocore.exceptions import ClientError

from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD, LabelCounts
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example, text_digest
from chalicelib.errors import LeaseLost, StorageUnavailable
from chalicelib.stores.aws.tables import ExampleChunkRow
from chalicelib.stores.examples.examples import (
    MAX_BODY_BYTES,
    ChunkWriter,
    ExampleRange,
    ExampleSequence,
    ExampleStore,
)
from tests.builders import World
from tests.conftest import MovableClock

DATASET, LABEL = 1_000_001, 10_001
SEQUENCE = ExampleSequence(DATASET, UPLOAD, LABEL)


@pytest.fixture
def examples(world: World) -> ExampleStore:
    """The store."""
    return world.stores.examples


def _write(
    examples: ExampleStore, clock: MovableClock, texts: list[str], had: int = 0, fence: int = 1
) -> LabelCounts:
    """Append texts to a label."""
    counts = {LABEL: LabelCounts(LABEL, had)}
    writer = ChunkWriter(examples, DATASET, fence, counts, lambda: None)
    for number, text in enumerate(texts, start=had):
        writer.add(Example(number, text, clock(), LABEL))
    [written] = writer.close()
    return written


@pytest.mark.parametrize("size", [1, 99, 100, 101, 199, 200, 201])
@pytest.mark.parametrize("had", [0, 1, 99, 100, 101])
def test_writer_at_chunk_boundaries(
    world: World, examples: ExampleStore, clock: MovableClock, had: int, size: int
) -> None:
    """Appended texts follow the existing ones in chunks of exactly 100."""
    texts = [f"text {number}" for number in range(had + size)]

    _write(examples, clock, texts[:had])
    counts = _write(examples, clock, texts[had:], had, fence=2)

    assert LabelCounts(LABEL, had + size) == counts
    assert texts == [e.name for e in examples.read(SEQUENCE, 0, had + size)]
    sizes = sorted(int(row.size) for row in world.rows(ExampleChunkRow))
    assert sum(sizes) == had + size
    assert all(size == CHUNK_EXAMPLES for size in sizes[1:])


def test_examples_beyond_the_committed_count_are_hidden(
    examples: ExampleStore, clock: MovableClock
) -> None:
    """Readers get the committed examples, and nothing after them."""
    _write(examples, clock, [f"text {number}" for number in range(150)])
    committed = [LabelCounts(LABEL, 120)]

    read = list(examples.read_all(DATASET, UPLOAD, committed))

    assert [f"text {number}" for number in range(120)] == [e.name for e in read]
    assert len(examples.digests(DATASET, UPLOAD, committed)) == 120
    assert text_digest("text 119") in examples.digests(DATASET, UPLOAD, committed)
    assert text_digest("text 120") not in examples.digests(DATASET, UPLOAD, committed)


def test_long_chunk_is_in_the_bucket(
    world: World, examples: ExampleStore, clock: MovableClock
) -> None:
    """A chunk over 300 KB is stored in the bucket and read back whole; its row stays small."""
    noise = random.Random(1)
    texts = ["".join(chr(noise.randint(0x4E00, 0x9FFF)) for _ in range(3_000)) for _ in range(100)]

    _write(examples, clock, texts)

    [row] = world.rows(ExampleChunkRow)
    [key] = world.objects()
    assert row.body is None
    assert key == row.artifact
    assert len(world.stores.artifacts.get(key) or b"") > MAX_BODY_BYTES
    assert texts == [e.name for e in examples.read(SEQUENCE, 0, 100)]
    assert texts[40:60] == [e.name for e in examples.read(SEQUENCE, 40, 20)]


def test_chunk_of_an_older_owner_is_refused(examples: ExampleStore, clock: MovableClock) -> None:
    """A writer that lost its lease cannot overwrite the next one's chunk."""
    _write(examples, clock, ["new"], fence=3)

    with pytest.raises(LeaseLost):
        _write(examples, clock, ["old"], fence=2)

    _write(examples, clock, ["new"], fence=3)
    assert [e.name for e in examples.read(SEQUENCE, 0, 1)] == ["new"]


def test_texts_come_back_exactly(examples: ExampleStore, clock: MovableClock) -> None:
    """Any text is read back unchanged, including case and white space."""
    texts = ["  Hello\n", "hello", "HELLO", "żółć 你好 🙂", "\t", "a" * 20_000, '"quoted", \\']

    _write(examples, clock, texts)

    found = examples.read(SEQUENCE, 0, len(texts))
    assert texts == [e.name for e in found]
    assert {clock()} == {e.created_at for e in found}
    assert len(examples.digests(DATASET, UPLOAD, [LabelCounts(LABEL, len(texts))])) == len(texts)


def test_sources_and_labels_are_apart(examples: ExampleStore, clock: MovableClock) -> None:
    """Reading a dataset returns one source, label by label."""
    for label_id in (LABEL, LABEL + 1):
        for source in (UPLOAD, FEEDBACK):
            sequence = ExampleSequence(DATASET, source, label_id)
            text = f"{source} of {label_id}"
            examples.put_chunk(sequence, 0, [Example(label_id, text, clock())], 1)
    counts = [LabelCounts(LABEL + 1, 1, 1), LabelCounts(LABEL, 1, 1)]

    read = list(examples.read_all(DATASET, FEEDBACK, counts))

    assert [(e.name, e.label_id) for e in read] == [
        (f"feedback of {LABEL + 1}", LABEL + 1),
        (f"feedback of {LABEL}", LABEL),
    ]


def test_delete_removes_uncommitted_chunks_too(
    world: World, examples: ExampleStore, clock: MovableClock
) -> None:
    """All chunks of a sequence are deleted, committed or not."""
    _write(examples, clock, [f"text {number}" for number in range(3_050)])

    examples.delete([SEQUENCE])

    assert world.rows(ExampleChunkRow) == []


def test_reading_step_by_step_translates_errors(
    examples: ExampleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An AWS error in the middle of a long read raises StorageUnavailable."""

    def refuse(*args: object, **kwargs: object) -> Iterator[ExampleChunkRow]:
        """Fail at the first row."""
        raise ClientError({"Error": {"Code": "InternalServerError"}}, "BatchGetItem")

    monkeypatch.setattr(ExampleChunkRow, "batch_get", refuse)

    with pytest.raises(StorageUnavailable):
        list(examples.read_all(DATASET, UPLOAD, [LabelCounts(LABEL, 1)]))


def test_several_ranges_cost_one_read(
    examples: ExampleStore, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges of several labels are read in one call, each complete and in order."""
    _write(examples, clock, [f"text {number}" for number in range(250)])
    other = ExampleSequence(DATASET, FEEDBACK, LABEL + 1)
    examples.put_chunk(other, 0, [Example(7, "other", clock(), LABEL + 1)], 1)
    asked = [
        ExampleRange(SEQUENCE, 90, 20),
        ExampleRange(other, 0, 1),
        ExampleRange(SEQUENCE, 199, 2),
        ExampleRange(SEQUENCE, 5, 0),
        ExampleRange(other, 3, 2),
    ]
    read, calls = ExampleChunkRow.batch_get, []
    monkeypatch.setattr(
        ExampleChunkRow, "batch_get", lambda keys, **more: calls.append(keys) or read(keys, **more)
    )

    found = examples.read_many(asked)

    assert [[e.name for e in part] for part in found] == [
        [f"text {number}" for number in range(90, 110)],
        ["other"],
        ["text 199", "text 200"],
        [],
        [],
    ]
    assert [len(keys) for keys in calls] == [4]
    assert found[1][0].label_id == LABEL + 1
    assert examples.read_many([]) == []
    assert len(calls) == 1


def test_chunks_of_many_labels_are_written_in_parallel(world: World, clock: MovableClock) -> None:
    """Chunks of 1,000 labels are written conditionally, ten at a time."""
    other = world.another()
    ids = range(LABEL, LABEL + 200)
    counts = {label_id: LabelCounts(label_id) for label_id in ids}
    writer = ChunkWriter(other.stores.examples, DATASET, 1, counts, lambda: None)
    for label_id in ids:
        writer.add(Example(label_id, f"text {label_id}", clock(), label_id))
    rounds: list[int] = []
    together = Barrier(10, lambda: rounds.append(1), timeout=60)

    def wait(model: Any, **_: Any) -> None:
        assert model.name == "PutItem"
        together.wait()

    events = other.stores.clients.dynamodb.meta.events
    events.register("before-call", wait)
    other.one_call_at_a_time()
    written = writer.close()
    events.unregister("before-call", wait)

    assert len(rounds) == 20
    assert list(written) == [LabelCounts(label_id, 1) for label_id in ids]
    assert writer.added == {i: [(text_digest(f"text {i}"), i)] for i in ids}
    read = other.stores.examples.read_all(DATASET, UPLOAD, written)
    assert [example.name for example in read] == [f"text {label_id}" for label_id in ids]


def test_lost_lease_ends_parallel_writes(world: World, clock: MovableClock) -> None:
    """The first refused write raises, and writes that have not started are cancelled."""
    other = world.another()
    other.one_call_at_a_time()
    ids = range(LABEL, LABEL + 200)
    checked: list[int] = []

    def check() -> None:
        checked.append(1)
        if len(checked) > 30:
            raise LeaseLost

    counts = {label_id: LabelCounts(label_id) for label_id in ids}
    writer = ChunkWriter(other.stores.examples, DATASET, 1, counts, check)
    for label_id in ids:
        writer.add(Example(label_id, f"text {label_id}", clock(), label_id))
    with pytest.raises(LeaseLost):
        writer.close()

    assert len(world.rows(ExampleChunkRow)) <= 30
