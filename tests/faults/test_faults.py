"""Each scenario runs once for every AWS call it makes, with that call failing.

After the failure the caller has an answer or a 503, the queues and the sweep bring all work to an
end, and a caller that saw a 503 sends the request again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, SOURCES, UPLOAD, DatasetView
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.models.model import SUCCEEDED, Model, TrainRequest
from chalicelib.errors import StorageUnavailable
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.stores.aws.tables import (
    DatasetRow,
    ExampleChunkRow,
    ExportRow,
    LabelRow,
    ReceiptRow,
)
from tests.builders import Snapshot, World, a_source, some_rows
from tests.faults.aws import Faults

ROWS = some_rows({"book": 6, "cancel": 6})
FILE = [*ROWS, ROWS[0], ("only one cell",)]
MORE = [*some_rows({"book": 3, "refund": 6}, "more"), ROWS[0]]


class Scenario:
    """A request, the state it starts from, and the conditions at the end."""

    is_short = False
    """True for a scenario whose workers do what those of another one do."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.services = world.container
        self.account = world.account

    def prepare(self) -> None:
        """Make the state that the request begins with."""

    def ask(self) -> Any:
        """Send the request."""
        raise NotImplementedError

    def check(self, answers: list[Any]) -> None:
        """Check the end state; `answers` are the requests that succeeded."""
        raise NotImplementedError

    def datasets(self) -> list[DatasetView]:
        """List the account's datasets."""
        return list(self.services.datasets.list(self.account.account_id, LANGUAGE, 0, 25).items)

    def texts(self, view: DatasetView, source: str = "all") -> list[tuple[str, str]]:
        """List the texts and labels of a dataset as a caller sees them."""
        page = self.services.examples.list_dataset(self.account, view, source, 0, 1000)
        return [(item.example.name, item.label.name) for item in page.items]

    def check_receipts(self, view: DatasetView, *seen: int) -> None:
        """Check that the receipts are final and add up, the newest first."""
        receipts = self.services.receipts.list(view, 0, 25).items
        assert [receipt.seen for receipt in receipts] == list(seen)
        for receipt in receipts:
            assert receipt.status == "SUCCEEDED"
            assert receipt.seen == receipt.kept + receipt.duplicates + receipt.rejected

    def check_whole(self, view: DatasetView) -> None:
        """Check that a deletion of the dataset would find every row and object there is."""
        dataset_id = view.dataset.dataset_id
        labels = self.services.stores.datasets.label_ids(view.dataset)
        assert {int(row.label_id) for row in self.world.rows(LabelRow)} <= labels
        chunks = {row.sequence for row in self.world.rows(ExampleChunkRow)}
        own = {f"{dataset_id}#{s}#{label}" for s in SOURCES for label in labels}
        assert chunks <= own | {f"{dataset_id}#places"}
        assert {int(row.dataset_id) for row in self.world.rows(ReceiptRow)} == {dataset_id}
        keys = self.world.objects()
        assert keys == [k for k in keys if k.startswith((f"datasets/{dataset_id}/", "models/"))]

    def check_deletable(self, view: DatasetView) -> None:
        """Check that the dataset can be deleted: no guard of a training is left."""
        dataset_id = view.dataset.dataset_id
        self.services.deletions.delete_dataset(self.account, LANGUAGE, dataset_id)
        self.world.work()
        assert not self.world.rows(DatasetRow)


class Upload(Scenario):
    """A file becomes a dataset."""

    def ask(self) -> DatasetView:
        return self.world.upload(FILE)

    def check(self, answers: list[Any]) -> None:
        [view] = self.datasets()
        assert (view.dataset.status_message, view.dataset.available) == ("SUCCEEDED", True)
        assert self.texts(view) == ROWS
        assert view.dataset.duplicates == 1
        self.check_receipts(view, len(FILE))
        self.check_whole(view)


class Put(Scenario):
    """A file is added to a dataset."""

    is_short = True

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)
        self.world.clock.advance(seconds=1)

    def ask(self) -> DatasetView:
        view = self.world.get(self.view)
        return self.services.uploads.add(self.account, view, a_source(MORE))

    def check(self, answers: list[Any]) -> None:
        view = self.world.get(self.view)
        assert (view.dataset.status_message, view.dataset.available) == ("SUCCEEDED", True)
        by_label = [*ROWS[:6], *MORE[:3], *ROWS[6:], *MORE[3:-1]]
        assert by_label == self.texts(view)
        # A caller that repeats a request whose reply was lost sends duplicates.
        receipts = self.services.receipts.list(view, 0, 25).items
        assert sum(r.kept for r in receipts) == len(by_label) == view.dataset.total
        assert sum(r.duplicates for r in receipts) == view.dataset.duplicates
        self.check_receipts(view, *[len(MORE)] * (len(receipts) - 1), len(ROWS))
        self.check_whole(view)


class Train(Scenario):
    """A dataset is trained."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)

    def ask(self) -> Any:
        return self.world.train(self.world.get(self.view))

    def check(self, answers: list[Any]) -> None:
        [model] = self.services.models.list(self.view, 0, 100).items
        check_model(self, model)
        self.check_deletable(self.view)


class Retrain(Scenario):
    """A model is trained again, and answers all the while."""

    is_short = True

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)
        self.model = self.world.model(self.view)

    def ask(self) -> Any:
        predict(self, self.model)
        model = self.services.models.get(self.account.account_id, self.model.model_id)
        return self.services.training.retrain(self.account, model, TrainRequest(epochs=4))

    def check(self, answers: list[Any]) -> None:
        [model] = self.services.models.list(self.view, 0, 100).items
        assert model.request.epochs == 4
        assert model.run >= 2
        check_model(self, model)
        self.check_deletable(self.view)


class Predict(Scenario):
    """A model answers: reserves, predicts, and releases the reservation when it fails."""

    def prepare(self) -> None:
        self.model = self.world.model(self.world.dataset(ROWS))

    def ask(self) -> Any:
        # Each request finds a process that has not warmed up.
        self.services.__dict__.pop("predictions", None)
        return predict(self, self.model)

    def check(self, answers: list[Any]) -> None:
        used = self.services.allowances.predictions(self.account).used
        assert len(answers) <= used <= len(answers) + 1


class DeleteDataset(Scenario):
    """A dataset with feedback and an embedded text is deleted."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)
        self.services.examples.add_text(self.account, self.view, "one more", None, "new label")

    def ask(self) -> Any:
        dataset_id = self.view.dataset.dataset_id
        return self.services.deletions.delete_dataset(self.account, LANGUAGE, dataset_id)

    def check(self, answers: list[Any]) -> None:
        assert len({answer.deletion_id for answer in answers}) == 1
        found = self.services.deletions.get(self.account.account_id, answers[0].deletion_id)
        assert (found.status, found.progress) == ("SUCCEEDED", 1)
        assert not self.datasets()
        assert not self.world.traces(self.view.dataset.dataset_id)
        assert not self.world.objects()


class DeleteModel(Scenario):
    """A model is deleted and its dataset stays."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)
        self.model = self.world.model(self.view)

    def ask(self) -> Any:
        return self.services.deletions.delete_model(self.account, self.model.model_id)

    def check(self, answers: list[Any]) -> None:
        found = self.services.deletions.get(self.account.account_id, answers[0].deletion_id)
        assert (found.status, found.progress) == ("SUCCEEDED", 1)
        assert not self.world.traces(self.model.model_id)
        assert self.texts(self.world.get(self.view)) == ROWS


class AddExample(Scenario):
    """A text is added under a new label."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)

    def ask(self) -> Any:
        view = self.world.get(self.view)
        return self.services.examples.add_text(self.account, view, "hello", None, "greet")

    def check(self, answers: list[Any]) -> None:
        view = self.world.get(self.view)
        assert [*ROWS, ("hello", "greet")] == self.texts(view)
        assert view.dataset.total == len(ROWS) + 1
        self.check_whole(view)


class Feedback(Scenario):
    """A text is added as feedback."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)
        self.model = self.world.model(self.view)

    def ask(self) -> Any:
        return self.services.feedback.add_text(self.account, self.model, "hello", "cancel")

    def check(self, answers: list[Any]) -> None:
        view = self.world.get(self.view)
        assert self.texts(view, "feedback") == [("hello", "cancel")]
        assert self.texts(view, UPLOAD) == ROWS
        assert len({answer.example.example_id for answer in answers}) == 1


class ExportTexts(Scenario):
    """A dataset is written as a file."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)

    def ask(self) -> Any:
        return self.services.exports.create(self.account, self.view, "jsonl", UPLOAD)

    def check(self, answers: list[Any]) -> None:
        found = self.services.exports.get(self.view, answers[0].export_id)
        assert (found.status, found.examples, found.message) == (SUCCEEDED, len(ROWS), "")
        # A call that failed may have asked all the same; no attempt's file is seen but one.
        for row in self.world.rows(ExportRow):
            assert row.status == SUCCEEDED
        key = f"exports/{found.dataset_id}/{found.export_id}-{found.fence}"
        content = self.services.stores.artifacts.get(key)
        lines = [json.loads(line) for line in (content or b"").splitlines()]
        assert [(line["text"], line["label"]) for line in lines] == ROWS


class AskBatch(Scenario):
    """Many texts are predicted in the background."""

    def prepare(self) -> None:
        self.view = self.world.dataset(ROWS)
        self.model = self.world.model(self.view)

    def ask(self) -> Any:
        found = self.services.stores.served_models.find(
            self.account.account_id, self.model.model_id
        )
        sent = UploadSource(content=b'{"text": "book it"}\n{"text": ""}', file_name="a.jsonl")
        return self.services.batches.create(self.account, LANGUAGE, found, sent, BatchOptions())

    def check(self, answers: list[Any]) -> None:
        kept = self.services.batches.list(self.account, LANGUAGE, 0, 100).items
        assert answers[0].batch_id in [batch.batch_id for batch in kept]
        # A call that failed may have asked all the same.
        for batch in kept:
            found = (batch.status, batch.is_open, batch.lines_done, batch.lines_failed)
            assert found == (SUCCEEDED, False, 2, 1), batch.message
            [key] = self.objects_of(batch.batch_id)
            content = self.services.stores.artifacts.get(key) or b""
            assert [len(json.loads(line)) for line in content.splitlines()] == [2, 2]
        assert self.services.allowances.predictions(self.account).used == len(kept)

    def objects_of(self, batch_id: str) -> list[str]:
        """List what is left of a batch in the bucket."""
        return self.world.objects(f"batches/{batch_id}/")


class AskRanking(AskBatch):
    """A ranking is made in the background."""

    def ask(self) -> Any:
        found = self.services.stores.served_models.find(
            self.account.account_id, self.model.model_id
        )
        sent = UploadSource(content=b'{"text": "book it"}\n{"text": ""}', file_name="a.jsonl")
        asked = BatchOptions(kind="rank", count=1)
        return self.services.batches.create(self.account, LANGUAGE, found, sent, asked)

    def check(self, answers: list[Any]) -> None:
        kept = self.services.batches.list(self.account, LANGUAGE, 0, 100).items
        assert answers[0].batch_id in [batch.batch_id for batch in kept]
        for batch in kept:
            found = (batch.status, batch.is_open, batch.lines_done, batch.lines_failed)
            assert found == (SUCCEEDED, False, 2, 1), batch.message
            [key] = self.objects_of(batch.batch_id)
            content = self.services.stores.artifacts.get(key) or b""
            [line] = [json.loads(one) for one in content.splitlines()]
            assert (line["rank"], line["row"], line["text"]) == (1, 1, "book it")
        assert self.services.allowances.predictions(self.account).used == len(kept)


def predict(scenario: Scenario, model: Model) -> Any:
    """Request a prediction."""
    services = scenario.services
    found = services.stores.served_models.find(scenario.account.account_id, model.model_id)
    [prediction] = services.predictions.predict(
        found, ["book please"], dataset_type="text-intent", account=scenario.account
    )
    return prediction.items


def check_model(scenario: Scenario, model: Model) -> None:
    """Check that a model has finished, can be used, and that no work counts as open."""
    assert (model.status, model.progress, model.failure) == (SUCCEEDED, 1, "")
    assert len(predict(scenario, model)) == 2
    assert scenario.services.models.metrics(model).data["labels"] == ["book", "cancel"]
    stats = model.stats
    assert stats is not None
    assert stats.examples == len(ROWS)


SCENARIOS = (
    Upload,
    Put,
    Train,
    Retrain,
    Predict,
    DeleteDataset,
    DeleteModel,
    AddExample,
    Feedback,
    ExportTexts,
    AskBatch,
    AskRanking,
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario_type", SCENARIOS)
def test_every_call_may_fail_once(
    scenario_type: type[Scenario],
    world: World,
    without_pauses: None,
    quick_engine: None,
) -> None:
    """Whichever call fails, the end state is that of a run without failures."""
    strike_every_call(scenario_type, world)


def strike_every_call(scenario_type: type[Scenario], world: World) -> None:
    """Run a scenario once for every AWS call it makes, with that call failing."""
    faults = Faults(world.stores.clients)
    scenario = scenario_type(world)
    scenario.prepare()
    clock = world.clock
    start = clock.now
    snapshot = Snapshot(world.settings)

    plan = faults.plan(lambda: _strike(scenario, []), is_short=scenario.is_short)

    assert len(plan) >= 5
    for number, kind in plan:
        snapshot.restore()
        clock.now = start
        answers: list[Any] = []
        with faults.at(number, kind):
            _strike(scenario, answers)
            calls = faults.calls[: number + 1]
        _check(scenario, answers, f"Call {number} ({kind}) of {calls}")


def _strike(scenario: Scenario, answers: list[Any]) -> None:
    """Send the request and let the workers do what comes of it."""
    _ask(scenario.ask, answers)
    scenario.world.work_on()


def _check(scenario: Scenario, answers: list[Any], note: str) -> None:
    """Finish the work as the caller and the sweep do, and check the end state."""
    try:
        scenario.world.settle()
        if not answers:
            answers.append(scenario.ask())
            scenario.world.settle()
        scenario.check(answers)
    except Exception as trouble:
        trouble.add_note(note)
        raise


def _ask(ask: Callable[[], Any], answers: list[Any]) -> None:
    """Send a request; the only error allowed is a 503."""
    try:
        answers.append(ask())
    except StorageUnavailable as refusal:
        assert refusal.status == 503  # noqa: PT017 - the refusal is one of two good outcomes
