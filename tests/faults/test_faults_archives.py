"""Archives uploaded, added, refused or sent as feedback, with each AWS call failing once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.datasets import growth
from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD, VISION, DatasetView
from chalicelib.domain.datasets.example import picture_digest
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.stores.examples import pictures as picture_writer
from tests.builders import World, a_model, an_archive
from tests.faults.test_faults import Scenario, strike_every_call
from tests.pictures import detection_files, label_folders

PETS = label_folders({"cat": 2, "dog": 1})
MORE = label_folders({"bird": 1}, salt=9)
FILES = {**PETS, "dog/again.png": PETS["dog/dog-0.png"], "dog/notes.txt": b"no picture"}


class Archive(Scenario):
    """A scenario of one dataset of pictures; texts try every outcome of the common calls."""

    is_short = True

    def datasets(self) -> list[DatasetView]:
        return list(self.services.datasets.list(self.account.account_id, VISION, 0, 25).items)

    def pictures(self, view: DatasetView, source: str = UPLOAD) -> list[tuple[str, str]]:
        """List names and labels of examples."""
        page = self.services.examples.list_dataset(self.account, view, source, 0, 1000)
        return [(item.example.name, item.label.name) for item in page.items]

    def check_stored(self, view: DatasetView, *archives: dict[str, bytes]) -> None:
        """Check that each picture of an example is stored, and no other one.

        An archive or a part whose job was never sent may be left: both die with the dataset.
        """
        prefix = f"datasets/{view.dataset.dataset_id}/"
        keys = {key.removeprefix(prefix) for key in self.world.objects(prefix)}
        contents = {c for files in archives for path, c in files.items() if _is_picture(path)}
        assert {key for key in keys if not key.startswith(("raw/", "parts/"))} == {
            f"images/{picture_digest(content).hex()}" for content in contents
        }

    def check_state(self, view: DatasetView) -> None:
        """Check that the dataset can be used."""
        assert (view.dataset.status_message, view.dataset.available) == ("SUCCEEDED", True)
        self.check_whole(view)


class UploadArchive(Archive):
    """An archive becomes a dataset."""

    def ask(self) -> DatasetView:
        return self.world.upload_pictures(FILES)

    def check(self, answers: list[Any]) -> None:
        [view] = self.datasets()
        self.check_state(view)
        assert self.pictures(view) == [_named(path) for path in PETS]
        assert view.dataset.duplicates == 1
        assert view.dataset.bytes == sum(map(len, PETS.values()))
        self.check_receipts(view, len(FILES))
        self.check_stored(view, PETS)


class PutArchive(Archive):
    """An archive is added to a dataset."""

    def prepare(self) -> None:
        self.view = self.world.pictures(FILES, "image-multi-label")
        self.world.messages()
        self.world.clock.advance(seconds=1)

    def ask(self) -> DatasetView:
        archive = an_archive({**MORE, "bird/cat.png": PETS["cat/cat-0.png"]})
        return self.services.uploads.add(self.account, self.world.get(self.view), archive)

    def check(self, answers: list[Any]) -> None:
        view = self.world.get(self.view)
        self.check_state(view)
        assert self.pictures(view)[3:] == [("bird-0.png", "bird"), ("cat.png", "bird")]
        receipts = self.services.receipts.list(view, 0, 25).items
        assert sum(receipt.kept for receipt in receipts) == view.dataset.total == 5
        assert sum(receipt.duplicates for receipt in receipts) == view.dataset.duplicates
        keys = [key for key in self.world.objects() if "/images/" in key]
        assert len(keys) == len({*PETS.values(), *MORE.values()})


class RefusedArchive(Archive):
    """An archive is read, and refused after some of its pictures were stored."""

    def prepare(self) -> None:
        self.view = self.world.pictures(PETS)
        self.world.messages()
        self.world.clock.advance(seconds=1)

    def ask(self) -> DatasetView:
        archive = an_archive(label_folders({"bird": 1, "fish": 1}, salt=9))
        return self.services.uploads.add(self.account, self.world.get(self.view), archive)

    def check(self, answers: list[Any]) -> None:
        view = self.world.get(self.view)
        assert view.dataset.status_message.startswith("FAILED: ")
        assert "labels" in view.dataset.message
        assert view.dataset.available
        assert self.pictures(view) == [_named(path) for path in PETS]
        assert self.services.receipts.list(view, 0, 25).items[0].status == "FAILED"
        images = [key for key in self.world.objects() if "/images/" in key]
        assert len(images) == len(PETS)
        self.check_whole(view)


class BulkFeedback(Archive):
    """Boxes are sent as feedback."""

    def prepare(self) -> None:
        self.first, self.more = detection_files(1), detection_files(1, salt=5)
        self.view = self.world.pictures(self.first, "image-detection")
        self.world.messages()
        self.world.clock.advance(seconds=1)

    def ask(self) -> DatasetView:
        model = a_model(self.view)
        return self.services.uploads.add_feedback(self.account, model, an_archive(self.more))

    def check(self, answers: list[Any]) -> None:
        view = self.world.get(self.view)
        # A caller that repeats what had been accepted sends names that are in use by then.
        assert view.dataset.available
        names = [("scene-5-0.jpg", "circle"), ("scene-5-0.jpg", "square")]
        assert self.pictures(view, FEEDBACK) == names
        assert [label.examples for label in view.labels] == [2, 2]
        self.check_whole(view)
        self.check_stored(view, self.first, self.more)


def _named(path: str) -> tuple[str, str]:
    """Return name and label of a picture in its folder."""
    label, _, name = path.partition("/")
    return name, label


def _is_picture(path: str) -> bool:
    """Distinguish images from other files."""
    return path.endswith((".png", ".jpg"))


@pytest.mark.parametrize("scenario_type", [UploadArchive, PutArchive, RefusedArchive, BulkFeedback])
def test_every_call_with_archives_may_fail_once(
    scenario_type: type[Scenario],
    world: World,
    without_pauses: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Whichever call fails, the end state is that of a run without failures."""
    # The calls must come in the same order each time.
    monkeypatch.setattr(picture_writer, "THREADS", 1)
    monkeypatch.setattr(growth, "MAX_LABELS", 3)
    monkeypatch.setattr(world.container, "backbones", BackbonePool(tmp_path))
    strike_every_call(scenario_type, world)
