"""Embeddings: computed once per dataset, stored, never shared."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.errors import LeaseLost
from chalicelib.stores.examples.parts import PART_TEXTS
from tests.builders import TinyEncoder, World, some_rows


def _encoder(world: World, name: str = "use") -> TinyEncoder:
    """Return an encoder that counts."""
    encoder = world.container.encoders.get(name)
    assert isinstance(encoder, TinyEncoder)
    return encoder


def test_parts_of_an_upload_are_embedded(world: World) -> None:
    """Each part of an upload becomes one shard of its encoder, and the part is deleted."""
    view, parts = world.unembedded(some_rows({"a": PART_TEXTS, "b": 1}))
    prefix = f"datasets/{view.dataset.dataset_id}/"
    assert len(world.objects(f"{prefix}parts/")) == len(parts) == 2

    for part in parts:
        world.deliver(part)

    assert world.objects(f"{prefix}parts/") == []
    assert len(world.objects(f"{prefix}embeddings/")) == 2
    assert (_encoder(world, "bge").texts, _encoder(world).texts) == (PART_TEXTS + 1, 0)


def test_part_that_arrives_twice(world: World) -> None:
    """A part that is already done is not embedded again."""
    _, [part] = world.unembedded(some_rows({"a": 3}))

    world.deliver(part)
    world.deliver(part)

    assert _encoder(world, "bge").texts == 3


def test_vectors_in_the_order_of_the_texts(world: World) -> None:
    """Vectors are in the order of their texts; equal texts are embedded once."""
    texts = ["one", "two", "one", "three"]
    shown: list[tuple[int, int]] = []

    vectors = world.container.embeddings.table(
        7, "use", texts, lambda *share: shown.append(share)
    ).vectors()

    assert vectors.shape == (4, 16)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_allclose(vectors, TinyEncoder("use").encode(texts), atol=2e-3)
    assert _encoder(world).texts == 3
    assert shown == [(0, 3), (3, 3)]


def test_vectors_of_spelling_are_not_stored(world: World) -> None:
    """They are computed again, which is faster than reading them."""
    found = world.container.embeddings.table(7, "words", ["one", "two"], lambda *_: None)

    assert found.vectors().any(axis=1).all()
    assert world.objects("datasets/7/") == []


def test_vectors_do_not_depend_on_who_computes_them(world: World) -> None:
    """Computing vectors or reading stored ones gives the same result."""
    texts = [f"text {number}" for number in range(1_050)]
    service = world.container.embeddings

    first = service.table(7, "use", texts, lambda *_: None).vectors()
    second = service.table(7, "use", texts, lambda *_: None).vectors()

    np.testing.assert_array_equal(first, second)
    assert _encoder(world).texts == 1_050


def test_vectors_are_not_shared_between_datasets(world: World) -> None:
    """The same text in another dataset is embedded again."""
    for dataset_id in (7, 8):
        world.container.embeddings.table(dataset_id, "use", ["one"], lambda *_: None)

    assert _encoder(world).texts == 2
    assert {key.split("/")[1] for key in world.objects()} == {"7", "8"}


def test_vectors_made_before_a_stop_are_kept(world: World) -> None:
    """A run stopped between parts leaves its finished vectors to the next run."""
    texts = [f"text {number}" for number in range(1_500)]

    def stop(done: int, total: int) -> None:
        """Stop after the first part."""
        if done:
            raise LeaseLost

    with pytest.raises(LeaseLost):
        world.container.embeddings.table(7, "use", texts, stop)
    assert _encoder(world).texts == PART_TEXTS
    world.container.embeddings.table(7, "use", texts, lambda *_: None)

    assert _encoder(world).texts == len(texts)


def test_other_languages_use_one_encoder(world: World) -> None:
    """A dataset in another language uses only the multilingual encoder."""
    world.dataset(some_rows({"a": 2}), fields=UploadFields("f", "text-intent", "fr"))

    assert (_encoder(world, "bge").texts, _encoder(world).texts) == (0, 2)


def test_training_and_queue_share_the_parts_of_an_upload(world: World) -> None:
    """A training takes open parts from the end, so that no text is embedded twice."""
    total = 3 * PART_TEXTS
    view, parts = world.unembedded(some_rows({"a": total}))
    dataset = view.dataset
    shown: list[tuple[int, int]] = []

    def queue_works_too(done: int, count: int) -> None:
        """Deliver the first part while the training is at its second."""
        shown.append((done, count))
        if done == 1:
            world.deliver(parts[0])

    world.container.embeddings.finish_parts(dataset, queue_works_too)
    for part in parts:
        world.deliver(part)

    assert _encoder(world, "bge").texts == total
    assert shown[:2] == [(0, 3), (1, 3)]
    assert world.objects(f"datasets/{dataset.dataset_id}/parts/") == []


def test_parts_of_later_uploads_are_left_to_the_queue(world: World) -> None:
    """A training finishes although uploads continue."""
    view, _ = world.unembedded(some_rows({"a": 3}))
    dataset = view.dataset
    later = f"datasets/{dataset.dataset_id}/parts/later/00000.json"

    world.container.embeddings.finish_parts(
        dataset, lambda *_: world.stores.artifacts.put_json(later, ["another"])
    )

    assert world.objects(f"datasets/{dataset.dataset_id}/parts/") == [later]
    assert _encoder(world, "bge").texts == 3
