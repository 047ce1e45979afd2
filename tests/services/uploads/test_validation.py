"""Validation of archives: what is read, time limits, and no side effects."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.datasets.validation import Validation
from chalicelib.errors import TimedOut
from chalicelib.formats.archives import picture_scan
from chalicelib.services.uploads.uploads import VALIDATION_SECONDS
from tests.boxes import coco_file, pictures
from tests.builders import World
from tests.pictures import make_zip
from tests.services.uploads.test_upload_forms import sent

FIELDS = UploadFields(None, "image-detection")
FILES = {**pictures("images/"), "instances.json": coco_file()}


def _validate(world: World, path: str) -> Validation:
    """Validate the file of a form."""
    uploads = world.container.uploads
    return uploads.validate(world.account, VISION, UploadSource(path=path), FIELDS, 29.0)


def test_archive_at_a_path_is_validated_and_stays(world: World) -> None:
    """Validation stores, queues and uses up nothing; an upload can use the same path."""
    path = sent(world, make_zip(FILES), "scenes.zip")
    before = world.objects()

    found = _validate(world, path)

    assert (found.format.kind, found.scan.kept_by_label) == ("coco", {"circle": 6, "square": 6})
    assert (world.objects(), world.messages()) == (before, [])
    view = world.container.uploads.create(world.account, VISION, UploadSource(path=path), FIELDS)
    world.work()
    assert {label.name: label.examples for label in world.get(view).labels} == {
        "circle": 6,
        "square": 6,
    }


def test_archive_that_takes_too_long(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 25 seconds validation fails with its progress, and the path can be used again."""
    path = sent(world, make_zip(FILES), "scenes.zip")
    check_picture = picture_scan.MemberImages.check

    def slow(*arguments: object) -> object:
        """Take ten seconds for an image."""
        world.clock.advance(seconds=10)
        return check_picture(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(picture_scan.MemberImages, "check", slow)
        with pytest.raises(TimedOut, match=r"in 25 seconds; 6 examples were read"):
            _validate(world, path)

    assert VALIDATION_SECONDS == 25
    assert _validate(world, path).scan.kept == 12


def test_file_that_comes_too_slowly(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file not downloaded in time fails with the number of received bytes."""
    path = sent(world, make_zip(FILES), "scenes.zip")
    files = world.stores.uploaded_files
    read = files.read

    def slow(*arguments: object, **more: object) -> None:
        """Start the reading late."""
        if more:
            world.clock.advance(seconds=30)
        read(*arguments, **more)

    monkeypatch.setattr(files, "read", slow)
    with pytest.raises(TimedOut, match=r"within 25 seconds; 0 bytes were read"):
        _validate(world, path)
