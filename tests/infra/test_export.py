"""Exports: whatever an account has comes out in a form that it can upload again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chalicelib.config import Settings
from chalicelib.domain.dataset import FEEDBACK, LANGUAGE, UPLOAD, VISION, DatasetView
from chalicelib.domain.upload import UploadFields, UploadSource
from infra.exports.account import FolderNotEmpty, export_account
from tests.builders import World, empty_aws, some_rows
from tests.conftest import MovableClock
from tests.pictures import annotations, draw, make_zip


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock) -> World:
    """A service on an empty AWS."""
    empty_aws(settings)
    return World(settings, clock)


def again(world: World, view: DatasetView, folder: Path) -> DatasetView:
    """Upload an exported data set by another account."""
    dataset = view.dataset
    place = folder / "datasets" / f"{dataset.family}-{dataset.dataset_id}"
    file = next(place.glob("upload.*"))
    record = json.loads((place / "dataset.json").read_text())
    fields = UploadFields(record["name"], record["type"], None)
    source = UploadSource(content=file.read_bytes(), file_name=file.name)
    made = world.container.uploads.create(
        world.new_account("other@example.com"), dataset.family, source, fields
    )
    for message in world.messages():
        if message[0] == "ingest":
            world.deliver(message)
    return world.get(made)


def examples(world: World, view: DatasetView, source: str = UPLOAD) -> list[tuple[object, ...]]:
    """Return name, label, picture and box of every example, in order."""
    names = {label.label_id: label.name for label in view.labels}
    found = world.stores.examples.read_all(view.dataset.dataset_id, source, view.dataset.counts)
    return [(e.name, names[e.label_id], e.picture, e.box) for e in found]


def test_texts_come_back_as_they_were(world: World, tmp_path: Path) -> None:
    """Texts with commas, quotes, line breaks and those that read like a header survive."""
    rows = [("text", "label"), ('say "hi", you', "greet"), ("two\nlines", "greet"), ("é ü", "ß")]
    view = world.dataset([*some_rows({"book": 120}), *rows])

    export_account(world.container, world.account, tmp_path / "out")

    assert examples(world, again(world, view, tmp_path / "out")) == examples(world, view)


@pytest.mark.parametrize("kind", ["image", "image-multi-label"])
def test_pictures_come_back_as_they_were(world: World, tmp_path: Path, kind: str) -> None:
    """Labels, file names and bytes survive, also of a picture that has two labels."""
    files = {
        f"{label}/{number}.png": draw(salt=number)
        for label in ("cats", "dogs")
        for number in range(3 if label == "cats" else 5)
    }
    view = world.pictures(files, kind)
    world.messages()

    export_account(world.container, world.account, tmp_path / "out")

    assert examples(world, again(world, view, tmp_path / "out")) == examples(world, view)


def test_boxes_come_back_as_they_were(world: World, tmp_path: Path) -> None:
    """Boxes of detection survive with their fractions, and each picture is there once."""
    box = {"label": "cup", "x": 1, "y": 2, "width": 10.5, "height": 8}
    other = {**box, "label": "pen, blue", "x": 12}
    archive = make_zip(
        {
            "a.png": draw(salt=1),
            "b.png": draw(salt=2),
            "annotations.csv": annotations([("a.png", [box, other]), ("b.png", [box])]),
        }
    )
    view = world.pictures(archive, "image-detection")
    world.messages()

    export_account(world.container, world.account, tmp_path / "out")

    assert examples(world, again(world, view, tmp_path / "out")) == examples(world, view)


def test_a_model_comes_with_artifact_and_card(world: World, tmp_path: Path) -> None:
    """The artifact's bytes, card, metrics and learning curve are there."""
    model = world.model(world.dataset(some_rows({"book": 6, "cancel": 5})))

    export_account(world.container, world.account, tmp_path / "out")

    place = tmp_path / "out" / "models" / model.model_id
    artifact = world.stores.model_files.artifact(model.model_id, model.version or "")
    assert (place / "artifact.npz").read_bytes() == artifact
    assert json.loads((place / "card.json").read_text())["object"] == "card"
    assert json.loads((place / "model.json").read_text())["modelId"] == model.model_id
    curve = json.loads((place / "learningcurve.json").read_text())
    assert [record["epoch"] for record in curve] == list(range(1, len(curve) + 1))


def test_another_accounts_data_stays_out(world: World, tmp_path: Path) -> None:
    """An export holds the data of one account alone; feedback has a file of its own."""
    world.dataset(some_rows({"book": 6}))
    other = world.new_account("other@example.com")

    export_account(world.container, other, tmp_path / "out")

    assert not (tmp_path / "out" / "datasets").exists()
    assert FEEDBACK not in {path.stem for path in (tmp_path / "out").rglob("*")}
    assert {LANGUAGE, VISION}.isdisjoint(path.name for path in (tmp_path / "out").iterdir())


def test_a_folder_with_files_is_refused(world: World, tmp_path: Path) -> None:
    """Nothing is overwritten."""
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(FolderNotEmpty, match="not empty"):
        export_account(world.container, world.account, tmp_path)
