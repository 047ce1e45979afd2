"""Data that corrections replace is deleted once no reader needs it."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

import pytest

from chalicelib.domain.datasets.corrections import Correction
from chalicelib.domain.datasets.dataset import LANGUAGE, DatasetView
from chalicelib.domain.datasets.example import text_digest
from chalicelib.errors import Conflict
from chalicelib.services.training.adjusting import AdjustmentRequest
from chalicelib.stores.aws.tables import ExampleChunkRow
from tests.builders import World, a_source, some_rows
from tests.pictures import draw, label_folders


def contents(world: World) -> dict[str, bytes]:
    """Return all stored bytes of examples, unpacked: chunks, notes and objects."""
    found = {key: world.stores.artifacts.get(key) or b"" for key in world.objects()}
    for row in world.rows(ExampleChunkRow):
        name = f"{row.sequence}/{row.number}"
        found[name] = zlib.decompress(row.body) if row.body else b""
        found[name + "/places"] = " ".join(row.places or ()).encode()
        found[name + "/digests"] = bytes(row.digests or b"")
    return {name: body for name, body in found.items() if "/raw/" not in name}


def holders(world: World, *needles: bytes) -> list[str]:
    """Return the names of rows and objects that contain any of these bytes."""
    return [name for name, body in contents(world).items() if any(n in body for n in needles)]


def first_text(world: World, view: DatasetView) -> tuple[int, str]:
    """Return id and text of an example with a unique id."""
    [item] = world.container.browsing.browse(world.account, view, _everything(), 4, 1).items
    return item.example.example_id, item.example.name


def _everything() -> Any:
    from chalicelib.services.datasets.browsing import BrowsedList

    return BrowsedList()


def test_a_removed_text_leaves_no_trace(world: World) -> None:
    """A removed text is in no chunk, note, vector, card or curve."""
    view = world.dataset([*some_rows({"a": 110, "b": 20}), ("b please number 3", "a")])
    model = world.model(view)
    number, text = first_text(world, view)
    digest = text_digest(text)
    assert any("embeddings" in name for name in holders(world, digest))
    kept = len(contents(world))

    world.container.corrections.remove_example(view, number)
    world.settle()

    assert [n for n, body in contents(world).items() if re.search(rb"\b%d\b" % number, body)] == []
    assert holders(world, digest, digest[:8]) == []
    assert [n for n, body in contents(world).items() if json.dumps(text).encode() in body] == []
    assert kept > 0
    assert world.container.models.get(world.account.account_id, model.model_id).version


def test_a_training_that_began_before_reads_what_was_there(world: World) -> None:
    """A training uses the examples of its start; nothing of them is deleted before its end."""
    view = world.dataset(some_rows({"a": 30, "b": 30}))
    model_id = world.train(view).model.model_id
    [job] = world.messages()
    world.deliver(job, lambda: 0.0)
    begun = world.container.models.get(world.account.account_id, model_id)
    number, text = first_text(world, view)

    world.container.corrections.remove_example(view, number)
    world.container.corrections.rename_label(world.get(view), view.labels[0], "renamed")
    world.clock.advance(minutes=16)
    world.container.sweeping.run()
    old = holders(world, json.dumps(text).encode())
    world.settle()

    done = world.container.models.get(world.account.account_id, model_id)
    assert begun.status != "SUCCEEDED"
    assert any("#upload#" in name for name in old)
    assert (done.status, done.stats.examples) == ("SUCCEEDED", 60)
    assert holders(world, json.dumps(text).encode()) == []


def test_adjustments_do_not_keep_a_removed_text_for_ever(world: World) -> None:
    """Adjustments cannot keep a removed text longer: after ten minutes they are refused."""
    model = world.model(world.dataset(some_rows({"a": 30, "b": 30})))
    view = world.container.datasets.get(world.account.account_id, LANGUAGE, model.dataset_id)
    number, text = first_text(world, view)
    sent = a_source(some_rows({"a": 12, "b": 12}, "sent"))

    def adjust() -> None:
        current = world.container.models.get(model.account_id, model.model_id)
        world.container.adjustments.request(world.account, current, AdjustmentRequest(sent), 20)

    world.container.corrections.remove_example(view, number)
    accepted = []

    def adjust_again_and_again() -> None:
        while len(accepted) < 15:
            adjust()
            accepted.append(world.clock())
            world.clock.advance(minutes=1)
            # What was removed is to be deleted while the adjustment waits.
            for message in sorted(world.messages(delayed=True), key=lambda one: one[0]):
                world.deliver(message)

    with pytest.raises(Conflict, match="removed from dataset"):
        adjust_again_and_again()
    assert len(accepted) >= 10
    assert holders(world, json.dumps(text).encode())
    world.settle()

    assert holders(world, json.dumps(text).encode()) == []
    adjust()


def test_moved_examples_keep_their_vectors(world: World) -> None:
    """Vectors are stored by text, so moving an example neither computes nor loses any."""
    view = world.dataset(some_rows({"a": 30, "b": 30}))
    number, text = first_text(world, view)
    before = holders(world, text_digest(text))

    world.container.corrections.change_example(view, Correction(number, label="b"))
    world.settle()

    vectors = [name for name in before if "embeddings" in name]
    assert vectors
    assert [n for n in holders(world, text_digest(text)) if "embeddings" in n] == vectors


def test_pictures_that_no_example_names_are_deleted(world: World, tiny: Any) -> None:
    """An image with two labels stays until its last example is removed."""
    files = label_folders({"cat": 6, "dog": 6})
    shared = draw("circle", "red", (40, 40), at=(4, 4, 30, 30), salt=999)
    files |= {"cat/shared.png": shared, "dog/shared.png": shared}
    view = world.pictures(files, "image-multi-label")
    world.work()
    [first, second] = [
        item.example
        for label in view.labels
        for item in world.container.examples.list_label(world.account, view, label, 0, 100).items
        if item.example.name == "shared.png"
    ]
    key = f"datasets/{view.dataset.dataset_id}/images/{first.picture}"

    world.container.corrections.remove_example(view, first.example_id)
    world.settle()
    assert key in world.objects()
    world.container.corrections.remove_example(world.get(view), second.example_id)
    world.settle()

    assert key not in world.objects()
    assert world.get(view).dataset.bytes == view.dataset.bytes - len(shared)
