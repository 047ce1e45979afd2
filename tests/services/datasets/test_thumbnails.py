"""Thumbnails: created by ingest or at the first view, and deleted with their images."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.errors import DatasetNotFound, StorageUnavailable
from chalicelib.services.datasets import thumbnails
from chalicelib.services.datasets.browsing import BrowsedExample, BrowsedList
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.examples.pictures import PictureStore
from chalicelib.stores.examples.thumbnails import ThumbnailStore
from tests.builders import World
from tests.pictures import draw, label_folders
from tests.tiny_vision import TinyVision

SIZE = (600, 300)
FILES = label_folders({"cat": 3}, size=SIZE)
SMALL = "thumbnails/"


def kept(world: World, view: DatasetView, folder: str = SMALL) -> list[str]:
    """List the digests of the objects in a folder of a dataset."""
    prefix = f"datasets/{view.dataset.dataset_id}/{folder}"
    return [key.removeprefix(prefix) for key in world.objects(prefix)]


def browse(world: World, view: DatasetView) -> list[BrowsedExample]:
    """Browse the first examples."""
    found = world.container.browsing.browse(world.account, view, BrowsedList(), 0, 100)
    return list(found.items)


def test_ingest_makes_thumbnails(world: World, tiny: TinyVision) -> None:
    """Thumbnails of an upload are made together with its features."""
    view = world.upload_pictures(FILES)
    tiny.extractor.least_side = 224

    world.work()

    assert kept(world, view) == kept(world, view, "images/")
    for digest in kept(world, view):
        content = world.stores.artifacts.get(f"datasets/{view.dataset.dataset_id}/{SMALL}{digest}")
        assert Image.open(io.BytesIO(content or b"")).size == (256, 128)


def test_first_browsing_makes_thumbnails(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images without a thumbnail get one at the first browsing, once."""
    view = world.pictures(FILES)
    reads: list[str] = []
    get = PictureStore.get

    def noted(self: PictureStore, dataset_id: int, digest: str) -> bytes | None:
        reads.append(digest)
        return get(self, dataset_id, digest)

    monkeypatch.setattr(PictureStore, "get", noted)
    first = browse(world, view)
    second = browse(world.another(), view)

    assert len(kept(world, view)) == len(reads) == 3
    for item in (*first, *second):
        assert item.thumbnail is not None
        assert (item.thumbnail.width, item.thumbnail.height) == SIZE
        assert f"/{SMALL}{item.example.picture}" in item.thumbnail.url


def test_extractor_that_sees_less_leaves_them_to_the_first_look(
    world: World, tiny: TinyVision
) -> None:
    """An image decoded smaller than a thumbnail gets none at ingest."""
    view = world.upload_pictures(FILES)
    tiny.extractor.least_side = 32

    world.work()

    assert kept(world, view) == []
    assert all(item.thumbnail for item in browse(world, view))


def test_restored_thumbnail_is_made_again(world: World) -> None:
    """A thumbnail that lost its image size in a backup is created again."""
    view = world.pictures(FILES)
    browse(world, view)
    for digest in kept(world, view):
        world.stores.artifacts.put(f"datasets/{view.dataset.dataset_id}/{SMALL}{digest}", b"old")

    assert all(item.thumbnail for item in browse(world.another(), view))


def test_process_looks_up_each_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Browsing the same page again makes no bucket calls."""
    view = world.pictures(FILES)
    browse(world, view)
    monkeypatch.setattr(ThumbnailStore, "find", None)

    assert all(item.thumbnail for item in browse(world, view))


def test_one_call_makes_them_for_two_seconds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call creates thumbnails for two seconds; missing ones are left to the next call."""
    view = world.pictures(FILES)
    with monkeypatch.context() as patch:
        patch.setattr(thumbnails, "MAKE_SECONDS", 0.0)
        assert [(item.thumbnail, bool(item.location)) for item in browse(world, view)] == [
            (None, True)
        ] * 3

    assert all(item.thumbnail for item in browse(world, view))


@pytest.mark.parametrize("broken", ["find", "put"])
def test_bucket_that_fails_costs_the_thumbnail_alone(
    world: World, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """If thumbnails cannot be created, examples are shown without them."""
    view = world.pictures(FILES)

    def fail(*_: object) -> None:
        raise StorageUnavailable

    monkeypatch.setattr(ThumbnailStore, broken, fail)

    assert [(item.thumbnail, bool(item.location)) for item in browse(world, view)] == [
        (None, True)
    ] * 3


def test_texts_have_no_thumbnails(world: World) -> None:
    """Texts have no thumbnails."""
    view = world.dataset([("one", "a"), ("two", "b")])

    assert [item.thumbnail for item in browse(world, view)] == [None, None]


def test_thumbnails_are_deleted_with_their_image(world: World, tiny: TinyVision) -> None:
    """A thumbnail is deleted with its image's last example; others stay."""
    view = world.pictures(FILES)
    world.work()
    gone = browse(world, view)[0].example

    world.container.corrections.remove_example(view, gone.example_id)
    world.settle()

    assert gone.picture not in kept(world, view)
    assert kept(world, view) == kept(world, view, "images/")
    assert len(kept(world, view)) == 2


def test_image_deleted_meanwhile_has_no_thumbnail(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thumbnail of an image that is deleted meanwhile is deleted too."""
    view = world.pictures(FILES)
    put = ThumbnailStore.put

    def put_after_removal(
        self: ThumbnailStore, dataset_id: int, digest: str, *more: object
    ) -> None:
        world.stores.pictures.delete(dataset_id, [digest])
        put(self, dataset_id, digest, *more)

    monkeypatch.setattr(ThumbnailStore, "put", put_after_removal)

    assert [item.thumbnail for item in browse(world, view)] == [None] * 3
    assert kept(world, view) == []


def test_dataset_deleted_meanwhile_has_none(world: World) -> None:
    """Browsing during the deletion of the dataset is refused, and leaves no thumbnail."""
    view = world.pictures(FILES)
    row = view.dataset
    world.container.deletions.delete_dataset(world.account, row.family, row.dataset_id)

    with pytest.raises(DatasetNotFound):
        browse(world, view)

    assert kept(world, view) == []


def test_thumbnails_are_not_counted(world: World) -> None:
    """Thumbnails do not count as bytes of the dataset."""
    fields = NewDataset("album", labels="cat")
    view = world.container.datasets.create(world.account, VISION, fields)
    content = draw(size=SIZE)
    file = PictureFile(content, "a.png")
    world.container.examples.add_picture(world.account, view, file, None, "cat")

    [item] = browse(world, world.get(view))

    assert item.thumbnail is not None
    assert world.get(view).dataset.bytes == len(content)
