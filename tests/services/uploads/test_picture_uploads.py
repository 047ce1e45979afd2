"""Accepting archives: types, names, limits, URLs, states, and bulk feedback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from typing import Any

import pytest

from chalicelib.domain.common.clock import system_clock
from chalicelib.domain.common.limits import MAX_DATASET_BYTES
from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    DownloadFailed,
    InvalidParameter,
    RateExceeded,
    ServiceError,
    TooLarge,
    TooManyOpen,
    UnsupportedType,
)
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import DatasetRow
from tests.builders import World, a_model, an_archive
from tests.pictures import detection_files, draw, label_folders, make_zip

PETS = label_folders({"cat": 2, "dog": 2})


@contextmanager
def served(files: dict[str, bytes], seconds: float = 0.0, at_once: int = 0) -> Iterator[int]:
    """Serve files locally, with a delay between headers and body after the first request."""
    pauses = chain(repeat(0.0, at_once), repeat(seconds))

    class Handler(BaseHTTPRequestHandler):
        """Answers with a file, or 404."""

        def do_GET(self) -> None:
            """Send the file."""
            content = files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            time.sleep(next(pauses))
            self.wfile.write(content or b"")

        def log_message(self, *words: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def allowing(world: World, port: int, **settings: Any) -> World:
    """Return the service with settings that allow a local port."""
    world.clock = system_clock
    allowed = (f"127.0.0.1:{port}",)
    return world.another(replace(world.settings, download_allow=allowed, **settings))


def create(world: World, source: UploadSource, fields: UploadFields | None = None) -> Any:
    """Accept an archive."""
    return world.container.uploads.create(
        world.account, VISION, source, fields or UploadFields("pets")
    )


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (None, "image"),
        ("image", "image"),
        ("image-multi-label", "image-multi-label"),
        ("image-detection", "image-detection"),
    ],
)
def test_types(world: World, sent: str | None, kind: str) -> None:
    """The three types are accepted, and image is the default."""
    view = create(world, an_archive(PETS), UploadFields("pets", sent))

    assert (view.dataset.type, view.dataset.language) == (kind, "N/A")
    assert (view.labels, view.dataset.status_message) == ((), "UPLOADING")


def test_type_of_the_other_family(world: World) -> None:
    """A text type is refused with the list of image types."""
    with pytest.raises(InvalidParameter, match="image, image-detection, image-multi-label"):
        create(world, an_archive(PETS), UploadFields("pets", "text-intent"))

    assert world.rows(DatasetRow) == []


@pytest.mark.parametrize(
    ("file_name", "name"), [("my pets.zip", "my pets"), ("n" * 120 + ".zip", "n" * 100)]
)
def test_name_from_the_archive(world: World, file_name: str, name: str) -> None:
    """Without a name the dataset has that of its file, without extension, cut to 100 characters."""
    view = create(world, an_archive(PETS, file_name), UploadFields())

    assert view.dataset.name == name


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (draw(), UnsupportedType, "PNG"),
        (b"text,label\n", UnsupportedType, "zip"),
        (b"PK\x03\x04" + bytes(50 << 20), TooLarge, "52428804.*52428800.*'path'"),
    ],
)
def test_what_is_refused_in_the_call(
    world: World, content: bytes, error: type[ServiceError], words: str
) -> None:
    """Other file types, and archives over 50 MB, store nothing, also with PUT."""
    with pytest.raises(error, match=words):
        create(world, UploadSource(content=content))
    assert world.rows(DatasetRow) == []
    assert world.objects() == []

    view = world.pictures(PETS)
    before = world.objects()
    with pytest.raises(error, match=words):
        world.container.uploads.add(world.account, view, UploadSource(content=content))
    assert world.get(view) == view
    assert world.objects() == before


def test_archive_behind_an_address(world: World) -> None:
    """The call checks the URL; the worker downloads the archive and stores the images."""
    with served({"/files/my%20pets.zip": make_zip(PETS)}) as port:
        world = allowing(world, port)
        url = f"http://127.0.0.1:{port}/files/my%20pets.zip"
        view = create(world, UploadSource(path=url), UploadFields())
        assert view.dataset.name == "my pets"
        assert view.dataset.reserved_bytes == len(make_zip(PETS))
        world.read_files()

    view = world.get(view)
    assert [(label.name, label.examples) for label in view.labels] == [("cat", 2), ("dog", 2)]
    assert not [key for key in world.objects() if "/raw/" in key]


@pytest.mark.parametrize(
    ("path", "words"), [("/missing.zip", "404"), ("/picture.zip", "PNG"), ("/empty", "0 bytes")]
)
def test_address_without_an_archive(world: World, path: str, words: str) -> None:
    """An error visible in the first bytes is a 400 of the call, with the cause."""
    with served({"/picture.zip": draw(), "/empty": b""}) as port:
        world = allowing(world, port)
        with pytest.raises(DownloadFailed) as refusal:
            create(world, UploadSource(path=f"http://127.0.0.1:{port}{path}"))

    assert refusal.value.message == "Failed to download the dataset from the public URL."
    assert words in refusal.value.detail
    assert world.rows(DatasetRow) == []


def test_size_of_an_address_counts(world: World) -> None:
    """The size that a URL announces must fit into the account's storage."""
    archive = make_zip(PETS)
    with served({"/a.zip": archive}) as port:
        world = allowing(world, port, max_stored_bytes=len(archive) - 1)
        with pytest.raises(TooManyOpen, match=f"this file has {len(archive)}; the limit is"):
            create(world, UploadSource(path=f"http://127.0.0.1:{port}/a.zip"))


def test_unpacked_size_must_have_room(world: World) -> None:
    """A small archive that unpacks to more than the account may store is FAILED."""
    padding = bytes(100_000)
    files = {f"cat/{n}.jpg": draw(salt=n, kind="JPEG") + padding for n in range(4)}
    world = world.another(replace(world.settings, max_stored_bytes=300_000))

    view = world.pictures(files)

    assert view.dataset.status_message.startswith("FAILED: The account stores 0 bytes and this")
    assert "the limit is 300000" in view.dataset.status_message
    assert not world.objects("datasets/")


def test_slow_address_of_a_synchronous_upload(world: World) -> None:
    """If the download outlasts the call, it answers UPLOADING and the queue continues."""
    with served({"/a.zip": make_zip(PETS)}, seconds=0.4) as port:
        world = allowing(world, port)
        source = UploadSource(path=f"http://127.0.0.1:{port}/a.zip")
        view = world.container.uploads.create_sync(
            world.account, VISION, source, UploadFields("slow"), 0.6
        )
        assert view.dataset.status_message == "UPLOADING"
        world.read_files()

    assert world.get(view).dataset.status_message == "SUCCEEDED"


def test_put_in_states_that_take_no_file(world: World) -> None:
    """In each state that takes no file PUT has its own error and writes nothing."""
    uploads, source = world.container.uploads, an_archive(PETS)
    uploading = world.upload_pictures(PETS)
    with pytest.raises(DatasetNotYetAvailable, match="try again once the dataset is ready"):
        uploads.add(world.account, uploading, source)
    world.read_files()
    made = world.container.datasets.create(world.account, VISION, NewDataset("made", labels="a,b"))
    with pytest.raises(BadRequest, match="was not created from a file"):
        uploads.add(world.account, made, source)
    failed = world.pictures({"a/notes.txt": b"nothing"})
    with pytest.raises(BadRequest, match="Delete the dataset"):
        uploads.add(world.account, failed, source)
    deleted = world.get(uploading)
    world.container.deletions.delete_dataset(world.account, VISION, deleted.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        uploads.add(world.account, world.get(deleted), source)
    full = replace(deleted, dataset=replace(deleted.dataset, bytes=MAX_DATASET_BYTES))
    with pytest.raises(TooLarge, match="2 GB"):
        uploads.add(world.account, full, source)


def test_feedback_is_queued_like_a_put(world: World) -> None:
    """The answer is the UPLOADING dataset with its previous labels."""
    view = world.pictures(detection_files(1), "image-detection")
    more = an_archive(detection_files(1, salt=5))

    started = world.container.uploads.add_feedback(world.account, a_model(view), more)

    assert (started.dataset.status_message, started.dataset.available) == ("UPLOADING", False)
    assert started.labels == view.labels
    with pytest.raises(DatasetNotYetAvailable):
        world.container.uploads.add_feedback(world.account, a_model(view), more)
    world.read_files()
    assert world.get(view).dataset.total == 4


@pytest.mark.parametrize("kind", ["image", "image-multi-label", "text-intent"])
def test_feedback_of_another_model(world: World, kind: str) -> None:
    """Only detection models accept bulk feedback."""
    view = world.pictures(detection_files(1), "image-detection")

    with pytest.raises(InvalidParameter, match=f"'modelId'.* of type {kind}; .*image-detection"):
        world.container.uploads.add_feedback(
            world.account, a_model(view, type=kind), an_archive(detection_files(1))
        )


def test_feedback_of_a_deleted_dataset(world: World) -> None:
    """During the deletion of the dataset feedback is a 409, and afterwards a 400."""
    view = world.pictures(detection_files(1), "image-detection")
    model, more = a_model(view), an_archive(detection_files(1, salt=5))
    world.container.deletions.delete_dataset(world.account, VISION, view.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        world.container.uploads.add_feedback(world.account, model, more)
    world.settle()

    with pytest.raises(BadRequest, match="was deleted, so it takes no feedback"):
        world.container.uploads.add_feedback(world.account, model, more)


def test_feedback_that_is_not_an_archive(world: World) -> None:
    """An invalid file type is reported before the dataset's state."""
    view = world.upload_pictures(detection_files(1), "image-detection")

    with pytest.raises(UnsupportedType):
        world.container.uploads.add_feedback(
            world.account, a_model(view), UploadSource(content=draw())
        )


def test_deletion_frees_the_worker_that_downloads(world: World) -> None:
    """A worker with a slow download is freed by the dataset's deletion."""
    files = {"/pets.zip": make_zip(PETS)}
    with served(files, seconds=60, at_once=1) as port:
        world = allowing(world, port, lease_seconds=1.0)
        world.one_call_at_a_time()
        view = create(world, UploadSource(path=f"http://127.0.0.1:{port}/pets.zip"))
        [message] = world.messages()
        worker = threading.Thread(target=world.deliver, args=(message,))
        worker.start()
        time.sleep(1)
        assert worker.is_alive()

        dataset = view.dataset
        world.container.deletions.delete_dataset(world.account, VISION, dataset.dataset_id)
        worker.join(60)

        assert not worker.is_alive()
    assert world.objects() == []


def test_download_that_may_not_begin_is_left_to_the_queue(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A synchronous upload beyond the account's download limit is left to a worker."""

    @contextmanager
    def refused() -> Iterator[None]:
        """Refuse every new download."""
        raise RateExceeded("8 downloads are in progress.", 2)
        yield

    with served({"/pets.zip": make_zip(PETS)}) as port:
        world = allowing(world, port)
        answers = iter([nullcontext(), refused()])
        monkeypatch.setattr(world.stores.in_flight, "running", lambda *_: next(answers))
        source = UploadSource(path=f"http://127.0.0.1:{port}/pets.zip")
        view = world.container.uploads.create_sync(
            world.account, VISION, source, UploadFields("pets"), 25
        )

        assert view.dataset.status == "UPLOADING"
        world.read_files()
        assert world.get(view).dataset.available


def test_url_is_not_probed_above_the_limit(world: World) -> None:
    """At the account's download limit the URL of an upload is not probed."""
    with served({"/pets.zip": make_zip(PETS)}) as port:
        world = allowing(world, port, max_downloads=0)
        with pytest.raises(RateExceeded, match="0 downloads of this account are in progress"):
            create(world, UploadSource(path=f"http://127.0.0.1:{port}/pets.zip"))

    assert world.rows(DatasetRow) == []
