"""Adjustments: feedback, interrupted runs, closed accounts and backups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.models import user_texts
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.errors import InvalidParameter
from chalicelib.services.datasets.browsing import BrowsedList
from chalicelib.services.training import adjusting
from chalicelib.services.training.adjusting import AdjustmentRequest
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.versions import CARD
from infra.backups.dumping import dump
from infra.backups.folder import BackupFolder
from infra.backups.restoring import restore
from tests.builders import World, a_source, some_rows
from tests.fresh_aws import provide
from tests.services.training.killed_runs import interrupt

ROWS = some_rows({"book": 15, "cancel": 15})
SENT = some_rows({"book": 12, "cancel": 12}, "sent")


@pytest.fixture
def model(world: World) -> Model:
    """A trained model of two labels."""
    return world.once("adjusted", lambda: world.model(world.dataset(ROWS), TrainRequest()))


def adjust(world: World, model: Model, rows: Any = SENT, **options: Any) -> None:
    """Queue an adjustment to texts of a file."""
    source = a_source([("text", "label"), *rows])
    wanted = AdjustmentRequest(source, **options)
    world.container.adjustments.request(world.account, model, wanted, 0.0)


def read(world: World, model: Model) -> tuple[Model, dict[str, Any]]:
    """Return the model and the adjustment in its card."""
    found = world.container.models.get(model.account_id, model.model_id)
    return found, world.container.models.card(model.account_id, model.model_id).get(
        "adjustment", {}
    )


def add_feedback(world: World, model: Model, count: int) -> None:
    """Add feedback that the model answers wrongly."""
    for number in range(count):
        text = some_rows({"book": count}, "sent")[number][0]
        world.container.feedback.add_text(world.account, model, f"again {text}", "cancel")


def files_of_adjustments(world: World, model: Model) -> list[str]:
    """List the stored texts of adjustments."""
    return [key for key in world.objects(f"models/{model.model_id}/") if "/adjustments/" in key]


def test_a_text_that_equals_a_label_does_not_swap_the_columns(world: World, model: Model) -> None:
    """Without a header, the column with more of the model's labels is the label column."""
    wanted = AdjustmentRequest(a_source([("book", "cancel"), *SENT]))
    world.container.adjustments.request(world.account, model, wanted, 0.0)
    world.work()

    assert read(world, model)[1]["labelled"] == len(SENT) + 1


def test_feedback_changes_nothing_unless_the_call_asks(world: World, model: Model) -> None:
    """Without `withFeedback`, the adjusted version is the same with and without feedback."""
    adjust(world, model)
    world.work()
    plain, card = read(world, model)
    add_feedback(world, model, 10)
    world.container.model_versions.serve(plain, 1)
    adjust(world, read(world, model)[0])
    world.work()

    again, same = read(world, model)
    files = world.stores.model_files
    assert files.artifact(model.model_id, plain.version) == files.artifact(
        model.model_id, again.version
    )
    assert same == card
    assert "feedback" not in card


def test_feedback_sets_the_temperature_if_the_call_asks(world: World, model: Model) -> None:
    """With `withFeedback` feedback counts as labelled and makes the model less confident."""
    adjust(world, model)
    world.work()
    _, plain = read(world, model)
    world.container.model_versions.serve(read(world, model)[0], 1)
    add_feedback(world, model, 10)
    adjust(world, read(world, model)[0], with_feedback=True)
    world.work()

    _, card = read(world, model)
    assert (card["labelled"], card["feedback"]) == (len(SENT) + 10, 10)
    assert card["temperatureFactor"] > plain["temperatureFactor"]
    assert files_of_adjustments(world, model) == []


def test_feedback_completes_a_file_of_few_texts(world: World, model: Model) -> None:
    """Feedback counts toward the minimum of 20 labelled texts; equal texts count once."""
    add_feedback(world, model, 18)
    with pytest.raises(InvalidParameter, match="2 texts with and 0 without"):
        adjust(world, model, SENT[:2])

    adjust(world, model, SENT[:2], with_feedback=True)
    world.work()
    assert read(world, model)[1]["labelled"] == 20
    repeated = [("again " + SENT[0][0], "cancel"), SENT[0]]
    with pytest.raises(InvalidParameter, match="19 texts with and 0 without"):
        adjust(world, read(world, model)[0], repeated, with_feedback=True)


def test_feedback_that_cannot_be_used_is_refused(
    world: World, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too much feedback, or none because the dataset is gone: the error names the parameter."""
    add_feedback(world, model, 10)
    for module in (adjusting, user_texts):
        monkeypatch.setattr(module, "MOST_TEXTS", 30)
    with pytest.raises(InvalidParameter, match=r"withFeedback.* 10 .* 24 .* 30"):
        adjust(world, model, with_feedback=True)
    world.container.deletions.delete_dataset(world.account, LANGUAGE, model.dataset_id)

    with pytest.raises(InvalidParameter, match=r"withFeedback.*deleted"):
        adjust(world, model, with_feedback=True)
    assert files_of_adjustments(world, model) == []


def test_a_killed_adjustment_is_finished_by_another_worker(
    world: World, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If killed between artifact and row, the old version is served until the run is repeated."""
    adjust(world, model)
    interrupt(world, monkeypatch)
    waiting, _ = read(world, model)
    assert (waiting.status, waiting.version) == ("RUNNING", model.version)
    assert len(files_of_adjustments(world, model)) == 1
    world.clock.advance(hours=1)
    world.settle()

    found, card = read(world, model)
    assert (found.status, found.failure, card["labelled"]) == ("SUCCEEDED", "", len(SENT))
    assert found.version != model.version
    assert files_of_adjustments(world, model) == []


@pytest.mark.parametrize("removes_all", [False, True])
def test_data_deleted_during_an_adjustment_is_not_in_its_version(
    world: World, model: Model, monkeypatch: pytest.MonkeyPatch, *, removes_all: bool
) -> None:
    """Data deleted during an adjustment is removed from its version, too."""
    view = world.container.datasets.get(model.account_id, LANGUAGE, model.dataset_id)
    [item] = world.container.browsing.browse(world.account, view, BrowsedList(), 0, 1).items
    card = f"models/{model.model_id}/{model.version}/{CARD}"
    found = world.stores.artifacts.get_json(card)
    report = {"likelyLabelErrors": [{"id": item.example.example_id, "text": item.example.name}]}
    world.stores.artifacts.put_json(card, {**found, "dataReport": report})
    if not removes_all:
        world.container.corrections.remove_example(view, item.example.example_id)
        world.clock.advance(minutes=2)
    put_version = world.stores.model_files.put_version

    def put_late(*given: Any) -> None:
        """Write the version after the first attempt at the deletion."""
        if removes_all:
            world.container.deletions.delete_dataset(world.account, LANGUAGE, model.dataset_id)
        for message in world.messages(delayed=True):
            world.deliver(message)
        put_version(*given)

    monkeypatch.setattr(world.stores.model_files, "put_version", put_late)
    adjust(world, model)
    [job] = world.messages()
    world.deliver(job)
    world.settle()

    adjusted, _ = read(world, model)
    assert (adjusted.status, adjusted.version != model.version) == ("SUCCEEDED", True)
    for version in (model.version, adjusted.version):
        key = f"models/{model.model_id}/{version}/{CARD}"
        assert world.stores.artifacts.get_json(key)["dataReport"] == {"likelyLabelErrors": [{}]}


def test_an_adjustment_of_a_closed_account_leaves_nothing(
    world: World, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing an account during an adjustment deletes its texts."""
    adjust(world, model)
    interrupt(world, monkeypatch)
    due = world.clock.now.replace(day=28)
    world.stores.accounts.close(world.account.account_id, due)
    world.clock.now = due
    for _ in range(3):
        world.settle()

    assert world.stores.accounts.list_all() == ()
    assert world.rows(ModelRow) == []
    assert world.objects() == []


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_waiting_adjustment_is_in_the_backup(
    world: World,
    model: Model,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_killed: bool,
) -> None:
    """A backup before or during the run verifies; the restored stack finishes the run."""
    adjust(world, model)
    if is_killed:
        interrupt(world, monkeypatch)
    folder = BackupFolder(tmp_path / "backup")
    folder.verify(dump(world.settings, folder))
    provide(world.settings)
    restore(world.settings, folder)
    world.clock.advance(hours=1)
    world.settle()

    found, card = read(world, model)
    assert (found.status, card["labelled"]) == ("SUCCEEDED", len(SENT))
    assert files_of_adjustments(world, model) == []
