"""Names in use are collected once and then updated incrementally."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD, VISION, Dataset, LabelCounts
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.examples import example_names
from chalicelib.stores.examples.example_names import ExampleNames
from chalicelib.stores.examples.examples import ExampleSequence
from tests.builders import World


@pytest.fixture
def dataset(world: World) -> Dataset:
    """A dataset of two labels, 250 uploads and 120 feedback examples."""
    fields = NewDataset("album", labels="a,b")
    made = world.container.datasets.create(world.account, VISION, fields).dataset
    first, second = (counts.label_id for counts in made.counts)
    _write(world, made, UPLOAD, first, 250)
    _write(world, made, FEEDBACK, second, 120)
    counts = (LabelCounts(first, upload=250), LabelCounts(second, feedback=120))
    return replace(made, counts=counts)


def _write(world: World, dataset: Dataset, source: str, label_id: int, count: int) -> None:
    """Write examples named by source and position."""
    sequence = ExampleSequence(dataset.dataset_id, source, label_id)
    examples = [Example(n, f"{source} {n}", world.clock(), label_id) for n in range(count)]
    for start in range(0, count, CHUNK_EXAMPLES):
        chunk = examples[start : start + CHUNK_EXAMPLES]
        world.stores.examples.put_chunk(sequence, start // CHUNK_EXAMPLES, chunk, 1)


def _fresh(world: World) -> ExampleNames:
    """Return the names as a new process sees them."""
    return ExampleNames(world.stores.examples, world.stores.artifacts)


def test_every_committed_name_is_found(world: World, dataset: Dataset) -> None:
    """Names of all labels and sources are in use, and no others."""
    names = _fresh(world)

    for name in ("upload 0", "upload 99", "upload 100", "upload 249", "feedback 119"):
        assert names.has(dataset, name), name
    for name in ("upload 250", "feedback 120", "", "upload", "Upload 0"):
        assert not names.has(dataset, name), name


def test_uncommitted_examples_are_none(world: World, dataset: Dataset) -> None:
    """The name of an uncommitted example is not in use."""
    names = _fresh(world)
    first = dataset.counts[0].label_id
    old = replace(dataset, counts=(LabelCounts(first, upload=120),))

    assert not names.has(old, "upload 120")
    assert names.has(dataset, "upload 120")
    assert names.has(old, "upload 120"), "an older view loses no name"


def test_only_what_is_new_is_read(
    world: World, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the collection only new examples cause a read."""
    names, reads = _fresh(world), []
    read_many = world.stores.examples.read_many

    def counted(stretches):
        """Record the reads."""
        reads.extend((s.start, s.count) for s in stretches)
        return read_many(stretches)

    monkeypatch.setattr(world.stores.examples, "read_many", counted)
    names.prepare(dataset)
    assert reads == [(0, 100), (100, 100), (200, 50), (0, 100), (100, 20)]
    reads.clear()
    first, second = dataset.counts
    _write(world, dataset, UPLOAD, first.label_id, 251)
    more = replace(dataset, counts=(first.incremented(UPLOAD), second))

    assert not names.has(dataset, "upload 250")
    assert names.has(more, "upload 250")
    assert reads == [(250, 1)]


def test_many_names_are_stored_in_the_bucket(
    world: World, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many names are stored in the bucket, so that other processes need not read all examples."""
    monkeypatch.setattr(example_names, "SAVE_NAMES", 300)
    place = f"datasets/{dataset.dataset_id}/names"
    names = _fresh(world)
    names.prepare(dataset)
    assert world.objects(place) == [], "only the owner of the dataset writes"
    assert names.has(dataset, "upload 7")
    assert world.objects(place) == [place]

    other = _fresh(world)
    monkeypatch.setattr(world.stores.examples, "read_many", lambda _: pytest.fail("read again"))
    assert other.has(dataset, "feedback 119")
    assert not other.has(dataset, "feedback 120")


def test_memory_is_bounded(world: World, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the least recently used dataset are evicted, and read again when needed."""
    monkeypatch.setattr(example_names, "KEPT_DATASETS", 2)
    names = _fresh(world)
    assert names.has(dataset, "upload 7")
    for number in (1001, 1002):
        other = replace(dataset, dataset_id=number, counts=(LabelCounts(5, upload=1),))
        sequence = ExampleSequence(number, UPLOAD, 5)
        world.stores.examples.put_chunk(sequence, 0, [Example(1, "one", world.clock())], 1)
        assert names.has(other, "one")

    assert set(names._indexes) == {1001, 1002}
    assert names.has(dataset, "upload 7")
    assert set(names._indexes) == {1002, dataset.dataset_id}


def test_digests_are_compared_at_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest that only appears across the border of two others is not found."""
    digests = {"first": b"aaaabbbb", "second": b"ccccdddd", "across": b"bbbbcccc"}
    monkeypatch.setattr(example_names, "_digest", digests.__getitem__)
    index = example_names._Index({}, digests["first"] + digests["second"])

    assert index.has("first")
    assert index.has("second")
    assert not index.has("across")
