"""Feedback: a misclassified text with its correct label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, DatasetView
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.domain.models.model import Model
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    InvalidParameter,
    MissingParameter,
)
from tests.builders import World, a_source, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})


@pytest.fixture
def view(world: World) -> DatasetView:
    """The dataset."""
    return world.dataset(ROWS)


@pytest.fixture
def model(world: World, view: DatasetView) -> Model:
    """An untrained model of the dataset; feedback only needs its row."""
    return world.train(view).model


def test_feedback_stands_behind_uploads(world: World, view: DatasetView, model: Model) -> None:
    """Feedback is listed after uploads, counts in totals, and counts its words separately."""
    before = world.get(view).dataset

    added = world.container.feedback.add_text(world.account, model, "two words", "cancel")

    now = world.get(view)
    page = world.container.examples.list_dataset(world.account, now, "all", 9, 100)
    assert [item.location for item in page.items] == [ROWS[-1][0], "two words"]
    assert (added.label.name, added.label.examples) == ("cancel", 6)
    assert now.dataset.total == 11
    assert now.dataset.words_upload == before.words_upload
    assert now.dataset.words_feedback == 2


def test_feedback_sent_twice(world: World, view: DatasetView, model: Model) -> None:
    """Equal feedback is stored once; an uploaded text may be feedback as well."""
    add = world.container.feedback.add_text
    first = add(world.account, model, "hello", "book")
    again = add(world.account, model, "hello", "book")
    uploaded = add(world.account, model, ROWS[0][0], "book")

    assert first.example == again.example
    assert uploaded.example.example_id != first.example.example_id
    assert world.get(view).dataset.total == 12


def test_refused_feedback(world: World, view: DatasetView, model: Model) -> None:
    """An unknown label is refused; the error lists the labels."""
    add = world.container.feedback.add_text

    with pytest.raises(InvalidParameter, match="it has: book, cancel"):
        add(world.account, model, "hello", "refund")
    with pytest.raises(MissingParameter):
        add(world.account, model, "  ", "book")
    with pytest.raises(InvalidParameter, match="use a text model"):
        add(world.account, replace(model, type="image"), "hello", "book")
    assert world.get(view).dataset.total == 10


def test_sentiment_in_any_case(world: World) -> None:
    """Expected sentiments may be written in any case."""
    rows = some_rows({"positive": 5, "negative": 5})
    view = world.dataset(rows, fields=UploadFields("s", "text-sentiment"))

    added = world.container.feedback.add_text(
        world.account, world.train(view).model, "fine", "Positive"
    )

    assert added.label.name == "positive"


def test_feedback_in_states_that_take_none(world: World, view: DatasetView, model: Model) -> None:
    """During an upload, a deletion and after it feedback is refused, each with its reason."""
    add = world.container.feedback.add_text
    world.work()
    world.container.uploads.add(world.account, world.get(view), a_source([("x", "book")]))
    with pytest.raises(DatasetNotYetAvailable):
        add(world.account, model, "hello", "book")
    world.work()
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        add(world.account, model, "hello", "book")
    world.work()
    with pytest.raises(BadRequest, match="was deleted, so it takes no feedback"):
        add(world.account, model, "hello", "book")
