"""Trainings of images and the features of uploads, with each AWS call failing once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.jobs.messages import FeaturesJob
from chalicelib.domain.models.model import SUCCEEDED, TrainRequest
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.services.training import vision_learner
from chalicelib.stores.jobs.queues import EMBED
from tests import tiny_vision
from tests.builders import World
from tests.faults.test_faults import Scenario, strike_every_call
from tests.pictures import draw, label_folders, make_zip

COUNTS = {"cat": 2, "dog": 2}


class VisionScenario(Scenario):
    """A scenario of one dataset whose features are not made yet."""

    is_short = True

    def prepare(self) -> None:
        self.view = self.world.pictures(label_folders(COUNTS))
        self.world.messages()
        self.expected: bytes | None = None

    def datasets(self) -> list[DatasetView]:
        return list(self.services.datasets.list(self.account.account_id, VISION, 0, 25).items)


class TrainPictures(VisionScenario):
    """A dataset is trained by a function that runs out of time once, and by the next one."""

    def ask(self) -> Any:
        return self.world.train(self.world.get(self.view), TrainRequest(epochs=1))

    def check(self, answers: list[Any]) -> None:
        [model] = self.services.models.list(self.view, 0, 100).items
        assert (model.status, model.progress, model.failure) == (SUCCEEDED, 1, "")
        assert model.stats is not None
        assert (model.stats.examples, model.stats.last_epoch) == (4, 1)
        curve = self.services.models.curve(model, 0, 25)
        assert [record["epoch"] for record in curve.items] == [1]
        assert self.services.models.metrics(model).data["labels"] == ["cat", "dog"]
        artifact = self.services.stores.model_files.artifact(model.model_id, model.version)
        self.expected = self.expected or artifact
        assert artifact == self.expected
        # What a failed clean-up has left lies where the model's deletion finds it.
        prefixes = (f"datasets/{model.dataset_id}/", f"models/{model.model_id}/")
        assert all(key.startswith(prefixes) for key in self.world.objects())
        # The entry at the account is removed last: a left-over one has no effect.
        guards = self.services.stores.accounts.training(self.account.account_id)
        assert self.world.get(self.view).dataset.training <= guards
        assert len(guards) <= 1


class MakeFeatures(VisionScenario):
    """A part of an upload gets its features."""

    def ask(self) -> Any:
        for part in self.services.stores.parts.waiting(self.view.dataset.dataset_id):
            self.world.send((EMBED, FeaturesJob.of(self.view.dataset, part=part)))

    def check(self, answers: list[Any]) -> None:
        folder = f"datasets/{self.view.dataset.dataset_id}/"
        # A part whose message is lost stays, and a training makes its features.
        waiting = self.world.objects(f"{folder}parts/")
        assert len(self.world.objects(f"{folder}features/")) == (0 if waiting else 1)


class AskPictures(VisionScenario):
    """Images are predicted in the background."""

    def prepare(self) -> None:
        self.view = self.world.pictures(label_folders({"red": 2, "green": 2}))
        self.world.messages()
        self.model = self.world.model(self.view, TrainRequest(epochs=1))

    def ask(self) -> Any:
        found = self.services.stores.served_models.find(
            self.account.account_id, self.model.model_id
        )
        files = {"a.png": draw("circle", "red"), "b.png": b"no picture"}
        sent = UploadSource(content=make_zip(files), file_name="a.zip")
        return self.services.batches.create(self.account, VISION, found, sent, BatchOptions())

    def check(self, answers: list[Any]) -> None:
        kept = self.services.batches.list(self.account, VISION, 0, 100).items
        assert answers[0].batch_id in [batch.batch_id for batch in kept]
        for batch in kept:
            found = (batch.status, batch.is_open, batch.lines_done, batch.lines_failed)
            assert found == (SUCCEEDED, False, 2, 1), batch.message
            [key] = self.world.objects(f"batches/{batch.batch_id}/")
            content = self.services.stores.artifacts.get(key) or b""
            assert [json.loads(line)["id"] for line in content.splitlines()] == ["a.png", "b.png"]
        assert self.services.allowances.predictions(self.account).used == len(kept)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scenario_type", [TrainPictures, MakeFeatures, AskPictures])
def test_every_call_may_fail_once(
    scenario_type: type[Scenario],
    world: World,
    without_pauses: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whichever call fails, the end state is that of a run without failures."""
    tiny = tiny_vision.install(monkeypatch)
    tiny.extractor.shard_rows = 4
    monkeypatch.setattr(tiny_vision, "STEPS", 1)
    monkeypatch.setattr(vision_learner, "RESERVE_SECONDS", 1_000.0)

    strike_every_call(scenario_type, world)
