"""Text models from label names and few examples. beyond.md, section 15."""

from __future__ import annotations

import pytest

from chalicelib.domain.models.model import SUCCEEDED, TrainRequest
from chalicelib.errors import InvalidParameter, TooFewExamples
from chalicelib.services.datasets.datasets import NewDataset
from tests.builders import World, a_source, some_rows

NAMES = TrainRequest(params={"minimumExamples": 0})


def _empty(world: World, labels: str = "book_flight,cancel_order,late_parcel"):
    fields = NewDataset("Names", "text-intent", "en_US", labels)
    return world.container.datasets.create(world.account, "language", fields)


def test_names_alone_make_a_model(world: World) -> None:
    """A dataset with only label names gives a working model, and the card says so."""
    model = world.model(_empty(world), NAMES)
    card = world.container.models.card(model.account_id, model.model_id)

    assert model.status == SUCCEEDED, model.failure
    assert card["trainedFrom"] == "labelNames"
    assert card["advice"][0]["code"] == "moreExamples"
    assert "accuracy is unknown" in card["limits"]
    answered = world.answer(model.model_id, "cancel my order please")
    assert {item.label for item in answered} == {"book_flight", "cancel_order", "late_parcel"}
    metrics = world.container.models.metrics(model).data
    assert metrics["confusionMatrix"] == [[0, 0, 0]] * 3


def test_few_examples_join_the_names(world: World) -> None:
    """Examples and names train together; only labels with two examples are tested."""
    view = world.dataset(some_rows({"book": 2, "cancel": 1}))
    model = world.model(view, TrainRequest(params={"minimumExamples": 1}))
    card = world.container.models.card(model.account_id, model.model_id)

    assert card["trainedFrom"] == "both"
    assert card["trainedOn"]["examples"] == 3
    assert "fewer than two examples: 'cancel'." in card["limits"]
    assert sum(map(sum, world.container.models.metrics(model).data["confusionMatrix"])) == 2


def test_one_example_a_label_gives_no_accuracy(world: World) -> None:
    """With one example per label the accuracy is unknown, and the card says so."""
    view = world.dataset(some_rows({"book": 1, "cancel": 1}))
    model = world.model(view, TrainRequest(params={"minimumExamples": 1}))
    card = world.container.models.card(model.account_id, model.model_id)

    assert "No label has two examples, so its accuracy is unknown." in card["limits"]
    figure = card["metrics"]["testAccuracy"]
    assert (figure["low"], figure["high"]) == (0.0, 1.0)


def test_five_examples_are_the_default(world: World) -> None:
    """The default minimum is five; labels below the requested minimum are refused."""
    with pytest.raises(TooFewExamples, match="at least 5 examples"):
        world.train(_empty(world))
    view = world.dataset(some_rows({"book": 2, "cancel": 1}))
    with pytest.raises(TooFewExamples, match=r"at least 2 examples: 'cancel' has 1"):
        world.train(view, TrainRequest(params={"minimumExamples": 2}))
    with pytest.raises(TooFewExamples, match="at least 2 labels"):
        world.train(_empty(world, "one"), NAMES)


def test_labels_below_the_minimum_can_be_skipped(world: World) -> None:
    """`skipSmallLabels` skips only labels below the requested minimum."""
    view = world.dataset(some_rows({"book": 3, "cancel": 2, "odd": 1}))
    params = {"minimumExamples": 2, "skipSmallLabels": True}
    model = world.model(view, TrainRequest(params=params))
    card = world.container.models.card(model.account_id, model.model_id)

    assert card["skippedLabels"] == [{"name": "odd", "numExamples": 1}]


def test_unlabelled_texts_of_another_dataset(world: World) -> None:
    """Unlabelled texts of another dataset move the prototypes; its labels are ignored."""
    others = world.dataset(some_rows({"anything": 30}))
    params = {"minimumExamples": 0, "unlabelled": others.dataset.dataset_id}
    moved = world.model(_empty(world), TrainRequest(params=params))
    plain = world.model(_empty(world), NAMES)
    files = world.stores.model_files
    artifacts = [files.artifact(one.model_id, one.version) for one in (moved, plain)]

    assert moved.status == SUCCEEDED, moved.failure
    assert artifacts[0] != artifacts[1]


def test_unlabelled_texts_added_meanwhile_are_not_read(world: World) -> None:
    """A resumed run uses only the unlabelled texts that existed at its start."""
    others, names = world.dataset(some_rows({"anything": 30})), _empty(world)
    params = {"minimumExamples": 0, "unlabelled": others.dataset.dataset_id}
    undisturbed = world.model(names, TrainRequest(params=params))
    model = world.train(names, TrainRequest(params=params)).model
    begun = [names.dataset, others.dataset]
    world.stores.checkpoints.begin(model, begun, world.clock())
    more = a_source(some_rows({"anything": 30}, salt="more"))
    world.container.uploads.add(world.account, world.get(others), more)
    world.work()

    files = world.stores.model_files
    done = world.container.models.get(model.account_id, model.model_id)
    assert files.artifact(done.model_id, done.version) == files.artifact(
        undisturbed.model_id, undisturbed.version
    )


def test_corrected_unlabelled_texts_are_read_as_they_are(world: World) -> None:
    """A resumed run reads corrected unlabelled texts, since the replaced chunks are deleted."""
    others, names = world.dataset(some_rows({"anything": 30})), _empty(world)
    page = world.container.examples.list_dataset(world.account, others, "upload", 0, 1)
    world.container.corrections.remove_example(others, page.items[0].example.example_id)
    world.settle()
    params = {"minimumExamples": 0, "unlabelled": others.dataset.dataset_id}
    model = world.train(names, TrainRequest(params=params)).model
    # The run began before the correction.
    world.stores.checkpoints.begin(model, [names.dataset, others.dataset], world.clock())

    world.work()

    done = world.container.models.get(model.account_id, model.model_id)
    assert (done.status, done.failure) == (SUCCEEDED, "")


def test_a_run_records_its_unlabelled_texts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run's start records the counts of the unlabelled dataset."""
    others, begun = world.dataset(some_rows({"anything": 30})), []
    store, begin = type(world.stores.checkpoints), type(world.stores.checkpoints).begin

    def note(self, model, datasets, now):
        begun.extend(one.dataset_id for one in datasets)
        return begin(self, model, datasets, now)

    monkeypatch.setattr(store, "begin", note)
    names = _empty(world)
    params = {"minimumExamples": 0, "unlabelled": others.dataset.dataset_id}
    world.model(names, TrainRequest(params=params))
    assert begun == [names.dataset.dataset_id, others.dataset.dataset_id]


def test_unknown_unlabelled_dataset(world: World) -> None:
    """An unlabelled dataset that the account does not have is refused at once."""
    params = {"minimumExamples": 0, "unlabelled": 999_999}
    with pytest.raises(InvalidParameter, match="not an available language dataset"):
        world.train(_empty(world), TrainRequest(params=params))
