"""Model folders are downloaded from the bucket once, completely and verified, or not at all."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import IncompleteReadError
from botocore.response import StreamingBody

from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.fetching import model_downloads
from chalicelib.stores.fetching.model_downloads import ModelDownloads, ModelFile, write_catalogue

FILES = {
    "minilm": {"model.onnx": b"weights", "encoder.json": b"{}"},
    "prebuilt/Mood": {"card.json": b'{"object": "card"}', "artifact.npz": b"npz"},
}


def described(content: bytes) -> ModelFile:
    """Describe a file for the catalogue."""
    return ModelFile(len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def cloud(clients: Clients, settings: Settings, tmp_path: Path) -> Settings:
    """A bucket with files and catalogue, and settings of a function with an empty disk."""
    catalogue = {
        folder: {name: described(content) for name, content in files.items()}
        for folder, files in FILES.items()
    }
    key, content = write_catalogue(catalogue)
    clients.s3.put_object(Bucket=settings.bucket, Key=key, Body=content)
    for folder, files in FILES.items():
        for name, content in files.items():
            clients.s3.put_object(
                Bucket=settings.bucket, Key=catalogue[folder][name].key, Body=content
            )
    return replace(settings, models_from_bucket=key, model_dir=str(tmp_path / "disk"))


def on_disk(settings: Settings) -> dict[str, bytes]:
    """Read everything on the function's disk."""
    folder = Path(settings.model_dir)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.glob("**/*")
        if path.is_file()
    }


def test_folder_is_downloaded_completely_and_once(cloud: Settings, clients: Clients) -> None:
    """All files of one folder are downloaded; the second time nothing is requested."""
    source = ModelDownloads(cloud, clients)
    source.ensure("minilm")
    assert on_disk(cloud) == {f"minilm/{name}": body for name, body in FILES["minilm"].items()}
    for entry in clients.s3.list_objects_v2(Bucket=cloud.bucket)["Contents"]:
        clients.s3.delete_object(Bucket=cloud.bucket, Key=entry["Key"])

    source.ensure("minilm")

    with pytest.raises(StorageUnavailable):
        source.ensure("prebuilt/Mood")


def test_another_process_finds_what_is_there(cloud: Settings, clients: Clients) -> None:
    """A complete folder on disk is not downloaded again."""
    ModelDownloads(cloud, clients).ensure("minilm")
    clients.s3.delete_object(Bucket=cloud.bucket, Key=described(b"weights").key)

    ModelDownloads(cloud, clients).ensure("minilm")


def test_folder_that_is_not_whole_is_replaced(cloud: Settings, clients: Clients) -> None:
    """A folder with an incomplete file is downloaded again."""
    folder = Path(cloud.model_dir) / "minilm"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"weight")
    (folder / "encoder.json").write_bytes(b"{}")

    ModelDownloads(cloud, clients).ensure("minilm")

    assert on_disk(cloud)["minilm/model.onnx"] == b"weights"


@pytest.mark.parametrize("stored", [b"weighty", b"weight", b"weights!", None])
def test_damaged_file_is_never_used(
    cloud: Settings, clients: Clients, stored: bytes | None
) -> None:
    """A damaged, truncated or missing file leaves no folder; a corrected one is downloaded."""
    key = described(b"weights").key
    if stored is None:
        clients.s3.delete_object(Bucket=cloud.bucket, Key=key)
    else:
        clients.s3.put_object(Bucket=cloud.bucket, Key=key, Body=stored)
    source = ModelDownloads(cloud, clients)

    with pytest.raises(StorageUnavailable):
        source.ensure("minilm")
    assert on_disk(cloud) == {}

    clients.s3.put_object(Bucket=cloud.bucket, Key=key, Body=b"weights")
    source.ensure("minilm")
    assert on_disk(cloud)["minilm/model.onnx"] == b"weights"


def test_damaged_catalogue_is_never_used(cloud: Settings, clients: Clients) -> None:
    """A catalogue that does not match its digest offers nothing."""
    clients.s3.put_object(
        Bucket=cloud.bucket, Key=cloud.models_from_bucket, Body=b'{"folders": {}}'
    )

    with pytest.raises(StorageUnavailable):
        ModelDownloads(cloud, clients).offers("minilm")


def test_full_disk_is_a_temporary_error(cloud: Settings, clients: Clients, tmp_path: Path) -> None:
    """If files cannot be written, StorageUnavailable is raised."""
    (tmp_path / "file").write_bytes(b"")
    source = ModelDownloads(replace(cloud, model_dir=str(tmp_path / "file")), clients)

    with pytest.raises(StorageUnavailable):
        source.ensure("minilm")


def test_many_threads_download_once(cloud: Settings, clients: Clients) -> None:
    """Threads that need one folder wait for a single download."""
    source, begin = ModelDownloads(cloud, clients), threading.Barrier(8)
    asked: list[str] = []
    clients.s3.meta.events.register(
        "before-call.s3.GetObject", lambda params, **_: asked.append(params["url_path"])
    )

    def ensure(_: int) -> None:
        """Start simultaneously."""
        begin.wait()
        source.ensure("minilm")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ensure, range(8)))

    assert len(asked) == 1 + len(FILES["minilm"])


def test_two_processes_with_one_folder(cloud: Settings, clients: Clients) -> None:
    """Two processes that download one folder at the same time both end with all of it."""
    sources = [ModelDownloads(cloud, clients) for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda source: source.ensure("minilm"), sources))

    assert on_disk(cloud) == {f"minilm/{name}": body for name, body in FILES["minilm"].items()}


@pytest.fixture
def in_ranges(cloud: Settings, clients: Clients, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Download files over two bytes in ranges; record the ranges."""
    monkeypatch.setattr(model_downloads, "RANGE_BYTES", 2)
    asked: list[str] = []

    def note(params: dict[str, Any], **_: object) -> None:
        """Record one."""
        asked.append(params["headers"].get("Range", "whole"))

    clients.s3.meta.events.register("before-call.s3.GetObject", note)
    return asked


def test_large_file_comes_in_ranges(
    cloud: Settings, clients: Clients, in_ranges: list[str]
) -> None:
    """A large file is downloaded in ranges, each byte once, and assembled in order."""
    ModelDownloads(cloud, clients).ensure("minilm")

    assert on_disk(cloud) == {f"minilm/{name}": body for name, body in FILES["minilm"].items()}
    ranges = ["bytes=0-1", "bytes=2-3", "bytes=4-5", "bytes=6-6"]
    assert sorted(in_ranges) == sorted([*ranges, "whole", "whole"])


def test_broken_range_is_requested_again(
    cloud: Settings, clients: Clients, in_ranges: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that breaks in a range repeats only that range, at most twice."""
    real, broken = StreamingBody.read, count()

    def read(body: StreamingBody, amt: int | None = None) -> bytes:
        """Fail the second and third time."""
        if next(broken) in (1, 2):
            raise IncompleteReadError(actual_bytes=1, expected_bytes=2)
        return bytes(real(body, amt))

    monkeypatch.setattr(StreamingBody, "read", read)

    ModelDownloads(cloud, clients).ensure("minilm")

    assert on_disk(cloud)["minilm/model.onnx"] == b"weights"
    assert len(in_ranges) == 6 + 2


def test_folders_are_downloaded_in_parallel(cloud: Settings, clients: Clients) -> None:
    """Folders are downloaded in parallel."""
    source, both = ModelDownloads(cloud, clients), threading.Barrier(2, timeout=20)
    source.offers("minilm")
    first = {described(files[min(files)]).key for files in FILES.values()}

    def meet(params: dict[str, Any], **_: object) -> None:
        """Wait for the first file of the other folder."""
        if any(params["url_path"].endswith(key) for key in first):
            both.wait()

    clients.s3.meta.events.register("before-call.s3.GetObject", meet)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(source.ensure, FILES))

    assert len(on_disk(cloud)) == 4


def test_a_file_of_two_folders_is_downloaded_once(cloud: Settings, clients: Clients) -> None:
    """A file shared by two folders is downloaded once, also simultaneously."""
    catalogue = {
        "minilm": {"model.onnx": described(b"weights")},
        "mood": {"graph.onnx": described(b"weights"), "encoder.json": described(b"{}")},
    }
    key, content = write_catalogue(catalogue)
    clients.s3.put_object(Bucket=cloud.bucket, Key=key, Body=content)
    asked: list[str] = []
    clients.s3.meta.events.register(
        "before-call.s3.GetObject", lambda params, **_: asked.append(params["url_path"])
    )
    for number, workers in enumerate((1, 2)):
        disk = f"{cloud.model_dir}-{number}"
        settings = replace(cloud, models_from_bucket=key, model_dir=disk)
        source = ModelDownloads(settings, clients)
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(source.ensure, catalogue))

        assert on_disk(settings) == {
            "minilm/model.onnx": b"weights",
            "mood/graph.onnx": b"weights",
            "mood/encoder.json": b"{}",
        }
        assert sum(url.endswith(described(b"weights").key) for url in asked) == number + 1


def test_unknown_folder_is_not_downloaded(cloud: Settings, clients: Clients) -> None:
    """A folder that is not in the catalogue is not downloaded."""
    source = ModelDownloads(cloud, clients)

    assert (source.offers("minilm"), source.offers("nanodet")) == (True, False)
    source.ensure("nanodet")
    assert on_disk(cloud) == {}


def test_container_uses_the_bucket_only_with_a_catalogue(cloud: Settings) -> None:
    """The bucket is used only if there is a catalogue; otherwise the disk."""
    there, here = Container(cloud), Container(replace(cloud, models_from_bucket=""))

    assert there.encoders.is_installed("minilm")
    assert there.stores.prebuilt.card("Mood") == {"object": "card"}
    assert here.encoders.is_installed("use") is False
