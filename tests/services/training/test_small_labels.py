"""Text trainings that skip labels with too few examples. beyond.md, section 15."""

from __future__ import annotations

import pytest

from chalicelib.domain.models.model import SUCCEEDED, TrainRequest
from chalicelib.errors import TooFewExamples
from tests.builders import World, some_rows

SKIPPING = TrainRequest(epochs=2, params={"skipSmallLabels": True, "profile": "fast"})
ROWS = some_rows({"rare": 2, "book": 10, "odd": 4, "cancel": 10})


def test_small_labels_are_left_out_and_listed(world: World) -> None:
    """Skipped labels are listed; model, metrics and evaluation have only the others."""
    view = world.dataset(ROWS)
    model = world.model(view, SKIPPING)
    models, stats = world.container.models, model.stats

    assert model.status == SUCCEEDED
    assert stats is not None
    assert (stats.labels, stats.examples) == (2, 20)
    card = models.card(model.account_id, model.model_id)
    assert card["skippedLabels"] == [
        {"name": "rare", "numExamples": 2},
        {"name": "odd", "numExamples": 4},
    ]
    assert card["trainedOn"]["labels"] == 2
    assert models.metrics(model).data["labels"] == ["book", "cancel"]
    answered = {item.label for item in world.answer(model.model_id, "book me a table")}
    assert answered == {"book", "cancel"}
    # The dataset itself stays as it is.
    assert len(world.get(view).labels) == 4


def test_same_model_as_without_the_labels(world: World) -> None:
    """Skipping labels gives the artifact of a dataset that never had them."""
    small = world.model(world.dataset(ROWS), SKIPPING)
    rows = [row for row in ROWS if row[1] in {"book", "cancel"}]
    plain = world.model(world.dataset(rows), TrainRequest(epochs=2, params={"profile": "fast"}))
    artifacts = [
        world.stores.model_files.artifact(one.model_id, one.version) for one in (small, plain)
    ]

    assert artifacts[0] == artifacts[1]
    card = world.container.models.card(plain.account_id, plain.model_id)
    assert "skippedLabels" not in card


def test_feedback_counts_and_a_retraining_learns_a_label_that_has_grown(world: World) -> None:
    """A label with five examples at the next training is no longer skipped."""
    view = world.dataset(ROWS)
    model = world.model(view, SKIPPING)
    world.container.examples.add_text(world.account, view, "one more odd text", None, "odd")

    world.container.training.retrain(world.account, model, SKIPPING)
    world.work()

    model = world.container.models.get(model.account_id, model.model_id)
    card = world.container.models.card(model.account_id, model.model_id)
    assert card["skippedLabels"] == [{"name": "rare", "numExamples": 2}]
    assert world.container.models.metrics(model).data["labels"] == ["book", "odd", "cancel"]


def test_two_labels_must_remain(world: World) -> None:
    """If fewer than two labels remain, the error has labels, counts and remedy."""
    view = world.dataset(some_rows({"book": 10, "rare": 2, "odd": 4}))
    with pytest.raises(TooFewExamples, match=r"has 1, .*'rare' has 2, 'odd' has 4\. Add examples"):
        world.train(view, SKIPPING)
    # Without the parameter the text is that of the contract.
    with pytest.raises(TooFewExamples, match=r"Each label needs at least 5 examples: 'rare' has 2"):
        world.train(view)
