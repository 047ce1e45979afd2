"""Single images: storage, errors, and the temporary URLs in lists."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.domain.common.limits import MAX_IMAGE_BYTES
from chalicelib.domain.datasets import growth
from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile, picture_digest
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotFound,
    InvalidParameter,
    LabelNotFound,
    MissingParameter,
    TooLarge,
    TooManyOpen,
    UnsupportedType,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import DatasetRow
from tests.builders import World, some_rows
from tests.pictures import draw, label_folders

CAT, DOG = draw("circle"), draw("square", "blue", kind="JPEG")


@pytest.fixture
def album(world: World) -> DatasetView:
    """An image dataset with labels and without examples."""
    return _empty(world)


def _empty(world: World, kind: str | None = None) -> DatasetView:
    """Create a dataset without examples."""
    fields = NewDataset("album", kind, labels="cat,dog")
    return world.container.datasets.create(world.account, VISION, fields)


def _add(world: World, view: DatasetView, content: bytes, label: str = "cat", **names: str):
    """Add an image by label name."""
    file = PictureFile(content, **names)
    return world.container.examples.add_picture(world.account, view, file, None, label)


def _listed(world: World, view: DatasetView, source: str = "upload"):
    """List the examples."""
    examples = world.container.examples
    return examples.list_dataset(world.account, world.get(view), source, 0, 100).items


def test_picture_is_stored_once_with_its_type(world: World, album: DatasetView) -> None:
    """The file is stored once, unchanged, under its digest, with its detected content type."""
    first = _add(world, album, CAT, file_name="cat 1.jpg")
    _add(world, album, DOG, "dog", file_name="dog.png")
    _add(world, album, CAT, "dog", file_name="no dog.png")

    prefix = f"datasets/{album.dataset.dataset_id}/images/"
    kept = world.objects(prefix)
    assert kept == sorted(prefix + picture_digest(content).hex() for content in (CAT, DOG))
    head = world.stores.clients.s3.get_object(
        Bucket=world.settings.bucket, Key=prefix + picture_digest(CAT).hex()
    )
    assert (head["ContentType"], head["Body"].read()) == ("image/png", CAT)
    assert (first.example.name, first.label.name, first.label.examples) == ("cat 1.jpg", "cat", 1)
    assert world.get(album).dataset.total == 3
    assert world.get(album).dataset.bytes == 2 * len(CAT) + len(DOG)


def test_location_is_a_temporary_url(world: World, album: DatasetView) -> None:
    """Answer and lists have a URL for 30 minutes, which downloads the file under its name."""
    added = _add(world, album, CAT, file_name="Möwe 1.png")
    [listed] = _listed(world, album)
    examples = world.container.examples
    [of_label] = examples.list_label(
        world.account, world.get(album), world.get(album).labels[0], 0, 1
    ).items

    for view in (added, listed, of_label):
        url = urlsplit(view.location)
        query = parse_qs(url.query)
        assert url.path.endswith(f"/{picture_digest(CAT).hex()}")
        assert query["X-Amz-Expires"] == ["1800"]
        disposition = "attachment; filename*=UTF-8''M%C3%B6we%201.png"
        assert query["response-content-disposition"] == [disposition]


@pytest.mark.parametrize(
    ("names", "name"),
    [
        ({"file_name": "a.png"}, "a.png"),
        ({"file_name": "a.png", "name": " b "}, "b"),
        ({"file_name": "x" * 200}, "x" * 150),
        ({"name": "é" * 149 + "  tail"}, "é" * 149),
        ({"file_name": " "}, f"{picture_digest(CAT).hex()}.png"),
        ({}, f"{picture_digest(CAT).hex()}.png"),
    ],
)
def test_name_of_a_picture(
    world: World, album: DatasetView, names: dict[str, str], name: str
) -> None:
    """The name is the sent one, the file's, or the digest, cut to 150 characters."""
    assert _add(world, album, CAT, **names).example.name == name


def test_same_picture_again(world: World, album: DatasetView) -> None:
    """Equal bytes with the same label are stored once, whatever the file name."""
    first = _add(world, album, CAT, file_name="one.png")
    again = _add(world, album, CAT, file_name="two.png")
    other = _add(world, album, CAT, "dog", file_name="one.png")

    assert again.example == first.example
    assert other.example.example_id != first.example.example_id
    assert world.get(album).dataset.total == 2
    assert world.get(album).dataset.duplicates == 0
    assert again.location


def test_new_label(world: World, album: DatasetView) -> None:
    """A new label is the last one and can be used by id."""
    made = _add(world, album, CAT, "bird")
    file = PictureFile(DOG)
    examples = world.container.examples
    more = examples.add_picture(world.account, world.get(album), file, made.label.label_id, None)

    assert [label.name for label in world.get(album).labels] == ["cat", "dog", "bird"]
    assert more.label.examples == 2


@pytest.mark.parametrize("kind", ["image-detection", "image-multi-label"])
def test_other_types_take_no_single_picture(world: World, kind: str) -> None:
    """Detection and multi-label datasets take images only in archives; the error says so."""
    with pytest.raises(BadRequest, match=f"of type {kind}; .* PUT"):
        _add(world, _empty(world, kind), CAT)
    assert not world.objects()


def test_refused_picture_leaves_nothing(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused image leaves neither file nor example."""
    with pytest.raises(TooLarge, match="1048577 bytes; at most 1048576"):
        _add(world, album, CAT + bytes(MAX_IMAGE_BYTES + 1 - len(CAT)))
    with pytest.raises(UnsupportedType, match="a GIF image"):
        _add(world, album, b"GIF89a" + bytes(30))
    with pytest.raises(BadRequest, match="cannot be read"):
        _add(world, album, CAT[:-40])
    with pytest.raises(MissingParameter):
        world.container.examples.add_picture(world.account, album, PictureFile(CAT), None, None)
    with pytest.raises(LabelNotFound):
        world.container.examples.add_picture(world.account, album, PictureFile(CAT), 1, None)
    with pytest.raises(InvalidParameter):
        _add(world, album, CAT, "l" * 181)
    monkeypatch.setattr(growth, "MAX_DATASET_EXAMPLES", 0)
    with pytest.raises(TooLarge, match="is full"):
        _add(world, album, CAT)
    assert not world.objects()
    assert world.get(album).dataset == album.dataset


def test_account_that_stores_too_much(world: World) -> None:
    """Images count against the storage of the account; the error has the figures."""
    full = world.another(replace(world.settings, max_stored_bytes=2 * len(CAT)))
    view = _empty(full)
    _add(full, view, CAT)

    with pytest.raises(TooManyOpen, match=f"stores {len(CAT)} bytes.* limit is {2 * len(CAT)}"):
        _add(full, view, CAT + bytes(1), "dog")
    _add(full, view, CAT, "dog")


def test_pictures_of_an_upload(world: World) -> None:
    """The images of an archive are listed with URLs, followed by single ones."""
    view = world.pictures(label_folders({"cat": 3, "dog": 2}))
    _add(world, view, draw("cross"), "cat", file_name="single.png")

    found = _listed(world, view)

    names = ["cat-0.png", "cat-1.png", "cat-2.png", "single.png", "dog-0.png", "dog-1.png"]
    assert [item.example.name for item in found] == names
    for item in found:
        path = f"datasets/{view.dataset.dataset_id}/images/{item.example.picture}"
        assert f"/{path}?" in item.location
        assert world.objects(path)


def test_expiry_of_the_last_url_is_stored(world: World, album: DatasetView) -> None:
    """The row of the dataset has the expiry of URLs; a list without images changes nothing."""
    datasets, now = world.stores.datasets, round(world.clock.now.timestamp() * 1000)
    _listed(world, album)
    assert datasets.urls_until(album.dataset) == 0

    _add(world, album, CAT)
    assert datasets.urls_until(album.dataset) == now + 1_800_000
    world.clock.advance(minutes=7)
    _listed(world, album)
    assert datasets.urls_until(album.dataset) == now + 2_220_000
    assert not datasets.note_urls(replace(album.dataset, dataset_id=77), now)
    assert datasets.note_urls(album.dataset, now), "an earlier moment is not a failure"
    assert datasets.urls_until(album.dataset) == now + 2_220_000


def test_texts_have_no_urls(world: World) -> None:
    """Lists of texts do not write to the dataset's row."""
    view = world.dataset(some_rows({"a": 3}))
    before = world.rows(DatasetRow)[0].attribute_values

    assert [item.location for item in _listed(world, view)] == [
        row[0] for row in some_rows({"a": 3})
    ]
    assert world.rows(DatasetRow)[0].attribute_values == before


def test_no_url_after_the_delete(world: World, album: DatasetView) -> None:
    """After DELETE a list that had already begun returns no URL, and no image is added."""
    _add(world, album, CAT)
    view = world.get(album)
    world.container.deletions.delete_dataset(world.account, VISION, album.dataset.dataset_id)

    with pytest.raises(DatasetNotFound):
        world.container.examples.list_dataset(world.account, view, "all", 0, 100)
    with pytest.raises(DatasetBeingDeleted):
        _add(world, view, DOG)


def test_image_written_after_the_deletion_of_its_dataset(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that outlasts its lease leaves no file after the dataset's deletion."""
    put, dataset_id = world.stores.pictures.put, album.dataset.dataset_id

    def put_late(*facts: object) -> None:
        """Run the whole deletion before the file is written."""
        world.container.deletions.delete_dataset(world.account, VISION, dataset_id)
        world.clock.advance(minutes=5)
        world.settle()
        put(*facts)

    monkeypatch.setattr(world.stores.pictures, "put", put_late)
    with pytest.raises(DatasetNotFound):
        _add(world, album, CAT)

    assert not world.traces(dataset_id)
    assert not world.objects()
