"""Single pictures, feedback and the deletion of shown pictures, with each AWS call failing once."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD, VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile, picture_digest
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import LabelRow
from chalicelib.stores.examples import example_names
from tests.builders import World, a_model
from tests.faults.test_faults import Scenario, strike_every_call
from tests.pictures import draw

CAT, DOG = draw("circle"), draw("square")


class PictureScenario(Scenario):
    """A scenario of one dataset with one picture; texts try every outcome of the common calls."""

    is_short = True

    def prepare(self) -> None:
        fields = NewDataset("album", labels="cat,dog")
        self.view = self.services.datasets.create(self.account, VISION, fields)
        self.add(CAT, "cat.png", "cat")

    def add(self, content: bytes, name: str, label: str) -> Any:
        """Add a single picture."""
        view, file = self.world.get(self.view), PictureFile(content, name)
        return self.services.examples.add_picture(self.account, view, file, None, label)

    def pictures(self, source: str) -> list[tuple[str, str]]:
        """List names and labels of examples."""
        view = self.world.get(self.view)
        page = self.services.examples.list_dataset(self.account, view, source, 0, 1000)
        return [(item.example.name, item.label.name) for item in page.items]

    def stored(self) -> set[str]:
        """Name the objects of the dataset."""
        prefix = f"datasets/{self.view.dataset.dataset_id}/"
        return {key.removeprefix(prefix) for key in self.world.objects()}

    def datasets(self) -> list[DatasetView]:
        return list(self.services.datasets.list(self.account.account_id, VISION, 0, 25).items)


def image(content: bytes) -> str:
    """Name a picture's object."""
    return f"images/{picture_digest(content).hex()}"


class AddPicture(PictureScenario):
    """A picture is added under a new label."""

    def ask(self) -> Any:
        return self.add(DOG, "dog.png", "wolf")

    def check(self, answers: list[Any]) -> None:
        assert self.pictures(UPLOAD) == [("cat.png", "cat"), ("dog.png", "wolf")]
        assert self.stored() == {image(CAT), image(DOG)}
        assert len({answer.example.example_id for answer in answers}) == 1
        view = self.world.get(self.view)
        assert view.dataset.bytes == len(CAT) + len(DOG)
        labels = self.services.stores.datasets.label_ids(view.dataset)
        assert {int(row.label_id) for row in self.world.rows(LabelRow)} <= labels


class PictureFeedback(PictureScenario):
    """A picture is added as feedback under a name that must be its own."""

    def ask(self) -> Any:
        # Each request finds a process that has not collected the names.
        self.services.stores.example_names._indexes.clear()
        model, file = a_model(self.view), PictureFile(DOG, "dog.png")
        return self.services.feedback.add_picture(self.account, model, file, "dog")

    def check(self, answers: list[Any]) -> None:
        assert self.pictures(FEEDBACK) == [("dog.png", "dog")]
        assert self.pictures(UPLOAD) == [("cat.png", "cat")]
        assert self.stored() - {"names"} == {image(CAT), image(DOG)}
        assert len({answer.example.example_id for answer in answers}) == 1


class DeleteShownPictures(PictureScenario):
    """A dataset is deleted while URLs to its pictures live, and until they are dead."""

    def ask(self) -> Any:
        return self.services.deletions.delete_dataset(
            self.account, VISION, self.view.dataset.dataset_id
        )

    def check(self, answers: list[Any]) -> None:
        assert not self.datasets()
        assert not self.world.traces(self.view.dataset.dataset_id)
        assert not self.world.objects()
        self.world.clock.advance(minutes=30)
        self.world.settle()
        found = self.services.deletions.get(self.account.account_id, answers[0].deletion_id)
        assert (found.status, found.progress) == ("SUCCEEDED", 1)


@pytest.mark.parametrize("scenario_type", [AddPicture, PictureFeedback, DeleteShownPictures])
def test_every_call_with_pictures_may_fail_once(
    scenario_type: type[Scenario],
    world: World,
    without_pauses: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whichever call fails, the end state is that of a run without failures."""
    monkeypatch.setattr(example_names, "SAVE_NAMES", 1)
    strike_every_call(scenario_type, world)
