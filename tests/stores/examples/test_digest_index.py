"""Finding an equal example among many reads a few kilobytes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, UPLOAD
from chalicelib.domain.datasets.example import Example
from chalicelib.stores.examples import digest_index
from chalicelib.stores.examples.examples import ExampleSequence
from tests.builders import World, a_source, some_rows
from tests.full_size import size


def _digest(text: str, world: World) -> bytes:
    return Example(0, text, world.clock()).digest


def _sequence(world: World) -> tuple[ExampleSequence, int]:
    [row] = world.stores.datasets.of_account(world.account.account_id, LANGUAGE)
    [counts] = row.counts
    return ExampleSequence(row.dataset_id, UPLOAD, counts.label_id), counts.upload


@pytest.mark.parametrize("count", [1, 100, 101, 999, 2_500])
def test_every_example_is_found_and_no_other(world: World, count: int) -> None:
    """With or without an index, each committed text is found, and no other text."""
    world.dataset(some_rows({"a": count}))
    sequence, committed = _sequence(world)
    find = world.stores.digests.find
    texts = [text for text, _ in some_rows({"a": count})]

    for text in random.Random(1).sample(texts, min(count, 40)):
        found = find(sequence, committed, _digest(text, world))
        assert found is not None
        assert found.name == text
    for number in range(40):
        assert find(sequence, committed, _digest(f"new {number}", world)) is None
    assert len(world.objects(f"datasets/{sequence.dataset_id}/digests/")) == (count > 100)


def test_what_is_added_later_is_found(world: World) -> None:
    """Examples added after the index was built are found, until a rebuild includes them."""
    view = world.dataset(some_rows({"a": 150}))
    more = some_rows({"a": 130}, "more")
    for text, _ in more[:105]:
        world.container.examples.add_text(world.account, world.get(view), text, None, "a")
    world.container.uploads.add(world.account, world.get(view), a_source(more[100:]))
    world.work()
    sequence, committed = _sequence(world)
    assert committed == 280

    for text, _ in [*some_rows({"a": 150})[::3], *more[::2]]:
        found = world.stores.digests.find(sequence, committed, _digest(text, world))
        assert found is not None
        assert found.name == text
    again = world.container.examples.add_text(world.account, world.get(view), more[7][0], None, "a")
    assert again.example.name == more[7][0]
    assert world.get(view).dataset.total == 280


def test_index_that_is_missing_is_made_by_who_asks(world: World) -> None:
    """The first addition to a dataset without an index creates it."""
    view = world.dataset(some_rows({"a": 300}))
    key = world.objects(f"datasets/{view.dataset.dataset_id}/digests/")[0]
    before = world.stores.artifacts.get(key)
    world.stores.artifacts.delete(key)

    world.container.examples.add_text(world.account, view, "one more", None, "a")

    assert world.stores.artifacts.get(key) == before


def test_same_beginning_is_no_equal_example(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If truncated digests are equal, the examples themselves are compared."""
    monkeypatch.setattr(digest_index, "_DIGEST_BYTES", 1)
    monkeypatch.setattr(digest_index, "_ENTRY_BYTES", 9)
    world.dataset(some_rows({"a": 400}))
    sequence, committed = _sequence(world)

    found = world.stores.digests.find(sequence, committed, _digest("a please number 399", world))
    assert found is not None
    assert found.name == "a please number 399"
    assert world.stores.digests.find(sequence, committed, _digest("not there", world)) is None


def test_adding_one_text_to_many_reads_little(world: World) -> None:
    """Adding a text to thousands of examples reads at most 20 kB."""
    view = world.dataset(some_rows({"a": size(5_000, 40_000)}))
    view = world.another().get(view)
    read: list[int] = []

    def note(http_response: Any, model: Any, **_: Any) -> None:
        if model.name == "GetObject":
            read.append(int(http_response.headers["content-length"]))
        elif model.name in ("GetItem", "BatchGetItem", "Query"):
            read.append(len(http_response.content))

    clients = world.stores.clients
    for client in (clients.dynamodb, clients.s3):
        client.meta.events.register("after-call", note)
    world.container.examples.add_text(world.account, view, "one more", None, "a")
    for client in (clients.dynamodb, clients.s3):
        client.meta.events.unregister("after-call", note)

    assert 1_000 < sum(read) <= 20_000, read
