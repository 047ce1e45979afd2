"""Examples: exact pages, list order, single additions, concurrency."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES
from chalicelib.domain.datasets import growth
from chalicelib.domain.datasets.dataset import (
    FEEDBACK,
    LANGUAGE,
    SOURCES,
    UPLOAD,
    DatasetView,
    LabelCounts,
)
from chalicelib.domain.datasets.example import CHUNK_EXAMPLES, Example
from chalicelib.errors import (
    DatasetBeingDeleted,
    DatasetNotFound,
    DatasetNotYetAvailable,
    InvalidParameter,
    LabelNotFound,
    MissingParameter,
    StorageUnavailable,
    TooLarge,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import DatasetRow
from chalicelib.stores.examples.examples import ExampleSequence
from tests.builders import World, some_rows

# Uploads and feedback of seven labels: around chunk boundaries, and empty ones.
COUNTS = [(0, 3), (99, 0), (100, 101), (101, 100), (2_500, 0), (0, 0), (7, 250)]


@dataclass
class Shelf:
    """A dataset with the same examples as plain lists."""

    world: World
    view: DatasetView
    texts: dict[tuple[str, int], list[str]]
    """Texts by source and position of the label."""

    def expected(self, sources: Sequence[str], labels: Sequence[int]) -> list[str]:
        """Return the expected list."""
        return [t for s in sources for label in labels for t in self.texts[s, label]]


@pytest.fixture
def shelf(world: World) -> Shelf:
    """Thousands of examples of several labels and sources, written as chunks."""
    names = ",".join(f"label {number}" for number in range(len(COUNTS)))
    view = world.container.datasets.create(
        world.account, LANGUAGE, NewDataset("shelf", "text-intent", labels=names)
    )
    texts: dict[tuple[str, int], list[str]] = {}
    counts = []
    for number, label in enumerate(view.labels):
        counts.append(LabelCounts(label.label_id, *COUNTS[number]))
        for source, size in zip(SOURCES, COUNTS[number], strict=True):
            texts[source, number] = [f"{source} {number} {place}" for place in range(size)]
            _write(world, view, label.label_id, source, texts[source, number])
    dataset = replace(view.dataset, counts=tuple(counts))
    return Shelf(world, world.stores.labels.view(dataset), texts)


def _write(world: World, view: DatasetView, label_id: int, source: str, texts: list[str]) -> None:
    """Write the chunks of one sequence."""
    sequence = ExampleSequence(view.dataset.dataset_id, source, label_id)
    examples = [Example(place, text, world.clock()) for place, text in enumerate(texts)]
    for start in range(0, len(texts), CHUNK_EXAMPLES):
        chunk = examples[start : start + CHUNK_EXAMPLES]
        world.stores.examples.put_chunk(sequence, start // CHUNK_EXAMPLES, chunk, 1)


@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    offset=st.integers(0, 3_400) | st.sampled_from([99, 100, 101, 199, 200, 3_160, 3_161, 10**12]),
    count=st.integers(1, 100),
    source=st.sampled_from(["all", FEEDBACK, UPLOAD]),
)
def test_page_of_a_dataset(shelf: Shelf, offset: int, count: int, source: str) -> None:
    """A page is exactly its part of the list, and reports whether more follows."""
    sources = SOURCES if source == "all" else (source,)
    expected = shelf.expected(sources, range(len(COUNTS)))

    page = shelf.world.container.examples.list_dataset(
        shelf.world.account, shelf.view, source, offset, count
    )

    assert expected[offset : offset + count] == [item.location for item in page.items]
    assert page.has_more == (offset + count < len(expected))


@hypothesis_settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(label=st.integers(0, len(COUNTS) - 1), offset=st.integers(0, 270), count=st.integers(1, 100))
def test_page_of_a_label(shelf: Shelf, label: int, offset: int, count: int) -> None:
    """A label's list has its uploads, then its feedback, all with the correct label."""
    expected = shelf.expected(SOURCES, [label])

    page = shelf.world.container.examples.list_label(
        shelf.world.account, shelf.view, shelf.view.labels[label], offset, count
    )

    assert expected[offset : offset + count] == [item.location for item in page.items]
    assert page.has_more == (offset + count < len(expected))
    assert {item.label for item in page.items} <= {shelf.view.labels[label]}


def test_reading_page_by_page(shelf: Shelf) -> None:
    """Consecutive pages add up to the whole list."""
    found: list[str] = []
    while True:
        page = shelf.world.container.examples.list_dataset(
            shelf.world.account, shelf.view, "all", len(found), 97
        )
        found += [item.example.name for item in page.items]
        if not page.has_more:
            break

    assert shelf.expected(SOURCES, range(len(COUNTS))) == found
    assert len(found) == sum(sum(pair) for pair in COUNTS)


def test_label_by_id_or_position(shelf: Shelf) -> None:
    """A number is the id of a label or its position; anything else is not found."""
    examples, labels = shelf.world.container.examples, shelf.view.labels

    assert examples.label_of(shelf.view, labels[3].label_id) == labels[3]
    assert examples.label_of(shelf.view, 0) == labels[0]
    for number in (7, 2**62):
        with pytest.raises(LabelNotFound):
            examples.label_of(shelf.view, number)


def test_label_of_another_account_or_family(world: World) -> None:
    """A label is found by its owner only, in its own family."""
    view = world.dataset(some_rows({"a": 1}))
    other = world.new_account("other@example.com")
    examples, label = world.container.examples, view.labels[0]

    found, found_label = examples.find_label(world.account.account_id, LANGUAGE, label.label_id)

    assert (found.dataset.dataset_id, found_label) == (view.dataset.dataset_id, label)
    for account_id, family in ((other.account_id, LANGUAGE), (world.account.account_id, "vision")):
        with pytest.raises(LabelNotFound):
            examples.find_label(account_id, family, label.label_id)


def test_examples_of_a_dataset_that_is_being_deleted(world: World) -> None:
    """After the answer to DELETE no example can be listed or added."""
    view = world.dataset(some_rows({"a": 1}))
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    examples, pending, label = world.container.examples, world.get(view), view.labels[0]

    with pytest.raises(DatasetNotFound):
        examples.list_dataset(world.account, pending, "all", 0, 100)
    with pytest.raises(DatasetNotFound):
        examples.list_label(world.account, pending, label, 0, 100)
    with pytest.raises(LabelNotFound):
        examples.find_label(world.account.account_id, LANGUAGE, label.label_id)
    with pytest.raises(DatasetBeingDeleted):
        examples.add_text(world.account, pending, "x", label.label_id, None)
    # A call that had read the dataset before the DELETE.
    with pytest.raises(DatasetBeingDeleted):
        examples.add_text(world.account, view, "x", label.label_id, None)


def test_unknown_source(shelf: Shelf) -> None:
    """An unknown source is named in the error."""
    with pytest.raises(InvalidParameter, match="not one of all, feedback, upload"):
        shelf.world.container.examples.list_dataset(
            shelf.world.account, shelf.view, "uploads", 0, 1
        )


def test_add_to_a_label_and_to_a_new_one(world: World) -> None:
    """A text is added at the end of its label; a new label is the last one."""
    view = world.dataset(some_rows({"a": 1, "b": 1}))
    examples = world.container.examples

    first = examples.add_text(world.account, view, "more", view.labels[0].label_id, None)
    second = examples.add_text(world.account, world.get(view), "new", None, " c ")
    third = examples.add_text(world.account, view, "newer", None, "c")

    assert (first.label.name, first.label.examples) == ("a", 2)
    assert (second.label.name, second.label.examples) == ("c", 1)
    assert (third.label.label_id, third.label.examples) == (second.label.label_id, 2)
    view = world.get(view)
    page = examples.list_dataset(world.account, view, "upload", 0, 100)
    assert [item.location for item in page.items] == [
        "a please number 0",
        "more",
        "b please number 0",
        "new",
        "newer",
    ]
    assert view.dataset.total == 5


def test_adding_the_same_text_returns_the_same_example(world: World) -> None:
    """Adding an existing text returns its example; a text in another case is new."""
    view = world.dataset(some_rows({"a": 3}))
    examples, label_id = world.container.examples, view.labels[0].label_id

    first = examples.add_text(world.account, view, "Hello", label_id, None)
    again = examples.add_text(world.account, view, "Hello", None, "a")
    lower = examples.add_text(world.account, view, "hello", None, "a")

    assert first.example == again.example
    assert lower.example.example_id != first.example.example_id
    assert world.get(view).dataset.total == 5
    assert world.get(view).dataset.duplicates == 0


def test_add_needs_a_label(world: World) -> None:
    """Without a label, or with a label of another dataset, nothing is added."""
    view = world.dataset(some_rows({"a": 1}))
    add = world.container.examples.add_text

    with pytest.raises(MissingParameter):
        add(world.account, view, "x", None, None)
    with pytest.raises(LabelNotFound):
        add(world.account, view, "x", 1, None)
    with pytest.raises(MissingParameter):
        add(world.account, view, " \n", None, "a")
    with pytest.raises(InvalidParameter):
        add(world.account, view, "x" * 20_001, None, "a")
    with pytest.raises(InvalidParameter):
        add(world.account, view, "x", None, "l" * 181)
    assert world.get(view).dataset.total == 1


def test_add_during_an_upload(world: World) -> None:
    """During an upload no single example can be added."""
    view = world.upload(some_rows({"a": 1}))

    with pytest.raises(DatasetNotYetAvailable):
        world.container.examples.add_text(world.account, view, "x", None, "a")


def test_add_while_others_add_all_the_time(world: World) -> None:
    """An addition that gets no lease because of others is an error that may be retried."""
    view = world.dataset(some_rows({"a": 1}))
    assert world.stores.dataset_leases.acquire_addition(view.dataset)

    with pytest.raises(StorageUnavailable):
        world.stores.ownership.while_owned(view.dataset, lambda owned: owned, wait_seconds=0.05)
    world.clock.advance(minutes=2)
    world.container.examples.add_text(world.account, view, "x", None, "a")


def test_label_limit_of_single_additions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The label limit holds even if the caller's view of the dataset is outdated."""
    monkeypatch.setattr(growth, "MAX_LABELS", 10)
    old = world.dataset([(f"text {n}", f"label {n}") for n in range(9)])
    add = world.container.examples.add_text
    add(world.account, old, "x", None, "the tenth")

    for view in (old, world.get(old)):
        with pytest.raises(InvalidParameter, match="has 10 labels"):
            add(world.account, view, "y", None, "one more")
    add(world.account, old, "z", None, "label 5")

    assert len(world.get(old).labels) == 10


def test_full_dataset(world: World) -> None:
    """A dataset with a million examples takes no more; the error has the number."""
    view = world.dataset(some_rows({"a": 1}))
    counts = (LabelCounts(view.labels[0].label_id, MAX_DATASET_EXAMPLES),)
    full = replace(view, dataset=replace(view.dataset, counts=counts))

    with pytest.raises(TooLarge, match="1000000"):
        world.container.examples.add_text(world.account, full, "x", None, "a")


@pytest.mark.parametrize("size", [99, 100, 101])
def test_add_at_chunk_boundaries(world: World, size: int) -> None:
    """A text added to a full or almost full chunk follows the others directly."""
    rows = some_rows({"a": size})
    view = world.dataset(rows)
    for text in ("first", "second"):
        world.container.examples.add_text(world.account, view, text, None, "a")

    page = world.container.examples.list_dataset(world.account, world.get(view), "upload", 95, 100)

    assert [*(text for text, _ in rows), "first", "second"][95:] == [e.location for e in page.items]


def test_additions_at_one_time_are_all_there(world: World) -> None:
    """Simultaneous additions each get their own example; none is lost."""
    world.one_call_at_a_time()
    view = world.dataset(some_rows({"a": 97}))

    def add(number: int) -> int:
        """Add one text; every other one has a new label."""
        label = "a" if number % 2 else f"new {number % 4}"
        added = world.container.examples.add_text(
            world.account, view, f"text {number}", None, label
        )
        return added.example.example_id

    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(add, range(12)))

    view = world.get(view)
    page = world.container.examples.list_dataset(world.account, view, "upload", 97, 100)
    assert len(set(ids)) == 12
    assert {f"text {number}" for number in range(12)} == {item.location for item in page.items}
    assert [label.examples for label in view.labels] == [103, 3, 3]
    assert int(world.rows(DatasetRow)[0].lease_until) == 0


def test_equal_additions_at_one_time_are_one(world: World) -> None:
    """Simultaneous additions of one text get the same example."""
    world.one_call_at_a_time()
    view = world.dataset(some_rows({"a": 1}))

    def add(_: int) -> int:
        """Add the text under a new label."""
        added = world.container.examples.add_text(world.account, view, "same", None, "new")
        return added.example.example_id

    with ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(add, range(8)))

    assert len(ids) == 1
    assert [label.examples for label in world.get(view).labels] == [1, 1]
