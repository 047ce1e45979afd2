"""Exports of an account can be uploaded again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import FEEDBACK, LANGUAGE, UPLOAD, VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from infra.backups.account_export import ExportIncomplete, FolderNotEmpty, export_account
from tests.builders import World, a_model, empty_aws, some_rows
from tests.conftest import MovableClock
from tests.pictures import annotations, draw, label_folders, make_zip


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock) -> World:
    """A service on an empty AWS."""
    empty_aws(settings)
    return World(settings, clock)


def place_of(view: DatasetView, folder: Path) -> Path:
    """Where an export has written a dataset."""
    return folder / "datasets" / f"{view.dataset.family}-{view.dataset.dataset_id}"


def again(world: World, view: DatasetView, folder: Path, source: str = UPLOAD) -> DatasetView:
    """Upload an exported dataset, or its feedback, by another account."""
    dataset = view.dataset
    place = place_of(view, folder)
    file = next(place.glob(f"{source}.*"))
    record = json.loads((place / "dataset.json").read_text())
    fields = UploadFields(record["name"], record["type"], None)
    sent = UploadSource(content=file.read_bytes(), file_name=file.name)
    made = world.container.uploads.create(
        world.new_account(f"{source}@example.com"), dataset.family, sent, fields
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


def check_feedback(world: World, view: DatasetView, folder: Path) -> None:
    """Export and upload both files; each restores what its source held."""
    view = world.get(view)
    export_account(world.container, world.account, folder)
    assert examples(world, view, FEEDBACK)
    for source in (UPLOAD, FEEDBACK):
        fresh = again(world, view, folder, source)
        assert examples(world, fresh) == examples(world, view, source), source


@pytest.mark.parametrize("kind", ["text-intent", "text-sentiment"])
def test_feedback_of_texts_comes_back(world: World, tmp_path: Path, kind: str) -> None:
    """Uploads and feedback are files of their own, and each is what it was."""
    labels = ("positive", "negative") if kind == "text-sentiment" else ('say "hi", now', "b;\\c")
    rows = some_rows(dict.fromkeys(labels, 3))
    view = world.dataset(rows, fields=UploadFields("texts", kind))
    for number, label in enumerate(labels):
        text = f'=reported, "afterwards"\r\n{number}'
        world.container.feedback.add_text(world.account, a_model(view), text, label)

    check_feedback(world, view, tmp_path / "out")


@pytest.mark.parametrize("kind", ["image", "image-multi-label"])
def test_feedback_of_pictures_comes_back(world: World, tmp_path: Path, kind: str) -> None:
    """Feedback pictures are in an archive of their own, under the expected labels."""
    view = world.pictures(label_folders({"cat": 2, "dog": 2}), kind)
    for label, salt in (("dog", 90), ("cat", 91)):
        file = PictureFile(draw("cross", salt=salt), file_name=f"bird {salt}.png")
        world.container.feedback.add_picture(world.account, a_model(view), file, label)
    world.messages()

    check_feedback(world, view, tmp_path / "out")


def test_feedback_of_boxes_comes_back(world: World, tmp_path: Path) -> None:
    """Feedback boxes are in an archive of their own, with their pictures."""
    box = {"label": "cup", "x": 1, "y": 2, "width": 10.5, "height": 8}
    files = {"a.png": draw(salt=1), "annotations.csv": annotations([("a.png", [box])])}
    view = world.pictures(make_zip(files), "image-detection")
    world.messages()
    more = make_zip({"b.png": draw(salt=2), "annotations.csv": annotations([("b.png", [box])])})
    source = UploadSource(content=more, file_name="more.zip")
    world.container.uploads.add_feedback(world.account, a_model(view), source)
    world.read_files()

    check_feedback(world, view, tmp_path / "out")


def test_labels_with_odd_characters_come_back(world: World, tmp_path: Path) -> None:
    """Labels of pictures that a folder can be called survive, whatever their letters."""
    labels = (
        "a, b",
        'say "hi"',
        "Ünïcode ☃",
        "100 %",
        "con",
        "tab & <b>",
        "two  blanks",
        "x" * 180,
    )
    view = world.pictures({f"{name}/{n}.png": draw(salt=n) for n, name in enumerate(labels)})
    world.messages()

    export_account(world.container, world.account, tmp_path / "out")

    assert examples(world, again(world, view, tmp_path / "out")) == examples(world, view)
    assert not (place_of(view, tmp_path / "out") / "notes.json").exists()


def test_names_that_no_archive_can_hold_are_written_otherwise(world: World, tmp_path: Path) -> None:
    """Names that an archive cannot hold are replaced by similar ones, with a note."""
    labels = ("in/out", "..", ".hidden", "__MACOSX", "C: drive", "back\\slash")
    view = world.pictures(label_folders({"cat": 1, "dog": 1}))
    for number, label in enumerate(labels):
        file = PictureFile(draw(salt=100 + number), file_name=f"a/{number}.png")
        world.container.examples.add_picture(world.account, world.get(view), file, None, label)
    world.container.examples.add_picture(
        world.account, world.get(view), PictureFile(draw(salt=99), name="Thumbs.db"), None, "cat"
    )
    world.messages()
    said: list[str] = []

    export_account(world.container, world.account, tmp_path / "out", said.append)

    view = world.get(view)
    notes = json.loads((place_of(view, tmp_path / "out") / "notes.json").read_text())
    renamed = notes["renamed"]
    assert set(labels) < set(renamed)
    assert notes["missing"] == []
    assert any("names are written otherwise" in line for line in said)
    wanted = [
        (renamed.get(str(name), name), renamed.get(str(label), label), *rest)
        for name, label, *rest in examples(world, view)
    ]
    assert sorted(map(str, examples(world, again(world, view, tmp_path / "out")))) == sorted(
        map(str, wanted)
    )


@pytest.mark.parametrize("is_detection", [False, True])
def test_a_missing_picture_is_reported(world: World, tmp_path: Path, is_detection: bool) -> None:
    """A missing image is reported and fails the call; everything else is exported."""
    files = {f"cat/{number}.png": draw(salt=number) for number in range(3)}
    box = {"label": "cup", "x": 1, "y": 2, "width": 10, "height": 8}
    table = annotations([(name, [box]) for name in files])
    archive = make_zip({**files, "annotations.csv": table}) if is_detection else make_zip(files)
    view = world.pictures(archive, "image-detection" if is_detection else "image")
    world.messages()
    lost = next(
        example
        for example in world.stores.examples.read_all(
            view.dataset.dataset_id, UPLOAD, view.dataset.counts
        )
        if example.name == "1.png"
    )
    (key,) = [key for key in world.objects() if lost.picture in key]
    world.stores.artifacts.delete(key)

    with pytest.raises(ExportIncomplete, match="1 examples have no image"):
        export_account(world.container, world.account, tmp_path / "out")

    place = place_of(view, tmp_path / "out")
    assert [gap["name"] for gap in json.loads((place / "notes.json").read_text())["missing"]] == [
        "1.png"
    ]
    names = {row[0] for row in examples(world, again(world, view, tmp_path / "out"))}
    assert names == {"0.png", "2.png"}
    with zipfile.ZipFile(place / "upload.zip") as written:
        assert all(member.file_size for member in written.infolist())


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
    """An export contains only data of one account."""
    world.dataset(some_rows({"book": 6}))
    other = world.new_account("other@example.com")

    export_account(world.container, other, tmp_path / "out")

    assert not (tmp_path / "out" / "datasets").exists()
    assert FEEDBACK not in {path.stem for path in (tmp_path / "out").rglob("*")}
    assert {LANGUAGE, VISION}.isdisjoint(path.name for path in (tmp_path / "out").iterdir())


def test_a_folder_with_files_is_refused(world: World, tmp_path: Path) -> None:
    """A folder with files is refused."""
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(FolderNotEmpty, match="not empty"):
        export_account(world.container, world.account, tmp_path)


def test_export_names_no_api_key(world: World, tmp_path: Path) -> None:
    """Neither keys nor their digests are in a file of the export."""
    key, secret = world.container.api_keys.create(world.account, "shop")
    world.dataset(some_rows({"book": 6, "cancel": 5}))

    export_account(world.container, world.account, tmp_path / "out")

    files = [file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert files
    for text in (secret, key.digest, key.key_id):
        assert all(text.encode() not in content for content in files)
