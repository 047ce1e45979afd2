"""What is sent as a file."""

from __future__ import annotations

import io
import zipfile

import pytest
from PIL import Image
from presage import FileError, _files
from presage._files import opened
from presage._pictures import converted


def picture(kind: str, size: tuple[int, int] = (8, 6)) -> bytes:
    """A small picture."""
    stream = io.BytesIO()
    Image.new("RGB", size, (9, 99, 199)).save(stream, kind)
    return stream.getvalue()


def test_bytes_paths_and_open_files_are_read_from_their_beginning(tmp_path):
    """A repeat sends the whole file again, whatever it was given as."""
    path = tmp_path / "tickets.csv"
    path.write_bytes(b"a,b\n")
    with path.open("rb") as stream:
        for file in (b"a,b\n", path, str(path), stream):
            source = opened(file)
            for _ in range(2):
                assert source.part()[1].read() == b"a,b\n"
            assert source.size == 4
            source.close()


def test_folders_become_archives_with_a_folder_for_each_label(tmp_path):
    """Pictures in folders are one upload; hidden files and other kinds stay out."""
    for name in ("cat/1.png", "dog/2.jpg", "dog/.hidden.png", ".git/x.png", "dog/notes.docx"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    source = opened(tmp_path)
    with zipfile.ZipFile(source.stream) as archive:
        assert archive.namelist() == ["cat/1.png", "dog/2.jpg"]
    source.close()
    assert source.name.endswith(".zip")


def test_files_that_cannot_be_sent_are_one_clear_line(tmp_path, monkeypatch):
    """A missing file, an empty one, an empty folder and one of too many files are refused."""
    (tmp_path / "empty.csv").touch()
    (tmp_path / "nothing").mkdir()
    many = tmp_path / "many"
    many.mkdir()
    for number in range(3):
        (many / f"{number}.png").write_bytes(b"x")
    monkeypatch.setattr(_files, "MOST_FILES", 2)
    for path, text in (
        (tmp_path / "absent.csv", "No such file"),
        (tmp_path / "empty.csv", "is empty"),
        (tmp_path / "nothing", "holds no PNG or JPEG"),
        (many, "more than 2 files"),
    ):
        with pytest.raises(FileError, match=text):
            opened(path)


@pytest.mark.parametrize("kind", ["webp", "tiff", "bmp"])
def test_pictures_of_other_kinds_become_jpeg(tmp_path, kind):
    """The service takes PNG and JPEG; the rest is converted before it is sent."""
    path = tmp_path / f"phone.{kind}"
    path.write_bytes(picture(kind))
    source = converted(opened(path))
    assert source.name == "phone.jpg"
    assert Image.open(source.stream).size == (8, 6)


def test_pictures_that_are_fine_are_sent_as_they_are(tmp_path):
    """No byte of a picture that the service takes is changed."""
    path = tmp_path / "a.png"
    path.write_bytes(picture("png"))
    source = converted(opened(path))
    assert source.part()[1].read() == picture("png")
    source.close()
