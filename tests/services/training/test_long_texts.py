"""Long texts, from upload to prediction: every word up to the limit is used."""

from __future__ import annotations

import random

from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.datasets.windows import split_texts
from chalicelib.stores.examples.parts import PART_TEXTS
from tests.builders import TinyEncoder, World

FILLER = [f"news{number}" for number in range(120)]
EVIDENCE = {
    "book": "please book one table for the evening",
    "stop": "cancel my whole order at once",
}


def letters(label: str, count: int, seed: int) -> list[tuple[str, str]]:
    """Texts of 200 words, of which only the last sentence shows the label."""
    dice = random.Random(seed)
    found = []
    for number in range(count):
        sentences = [" ".join(dice.choices(FILLER, k=20)) for _ in range(10)]
        found.append((". ".join([*sentences, f"{EVIDENCE[label]} number {number}"]), label))
    return found


def test_the_last_sentence_of_long_texts_decides(world: World) -> None:
    """Evidence after the 128th token is learned and predicted, singly and in batches."""
    view = world.dataset([*letters("book", 60, 1), *letters("stop", 60, 2)])
    model = world.model(view)

    asked = [*letters("book", 20, 3), *letters("stop", 20, 4)]
    answered = [world.answer(model.model_id, text)[0].label for text, _ in asked]
    alone = [world.answer(model.model_id, EVIDENCE[label])[0].label for label in EVIDENCE]

    right = sum(label == truth for label, (_, truth) in zip(answered, asked, strict=True))
    assert right >= 36
    assert alone == list(EVIDENCE)


def test_parts_of_long_texts_are_as_long_as_those_of_short_ones(world: World) -> None:
    """Upload parts are sized by windows, not by texts, and store a vector for each window."""
    rows = letters("book", 100, 1) + letters("stop", 100, 2)
    windows = len(split_texts([text for text, _ in rows]).windows)

    _, parts = world.unembedded(rows)

    assert len(parts) == -(-windows // PART_TEXTS) == 3
    for part in parts:
        world.deliver(part)
    encoder = world.container.encoders.get("bge")
    assert isinstance(encoder, TinyEncoder)
    assert encoder.texts == windows


def test_a_removed_long_text_leaves_no_vectors(world: World) -> None:
    """The vectors of a removed text's windows are deleted with it."""
    view = world.dataset([*letters("book", 10, 1), *letters("stop", 10, 2)])
    [item] = world.container.browsing.browse(world.account, view, _everything(), 4, 1).items
    digests = [text_digest(window) for window in split_texts([item.example.name]).windows]

    def shards() -> bytes:
        keys = [key for key in world.objects() if "/embeddings/" in key]
        return b"".join(world.stores.artifacts.get(key) or b"" for key in keys)

    before = shards()
    world.container.corrections.remove_example(view, item.example.example_id)
    world.settle()

    assert all(digest in before for digest in digests)
    assert not any(digest in shards() for digest in digests)


def _everything() -> object:
    from chalicelib.services.datasets.browsing import BrowsedList

    return BrowsedList()
