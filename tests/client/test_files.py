"""Tests of files to send."""

from __future__ import annotations

import io
import os
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image
from presage import FileError, _folders
from presage._files import open_batch, open_source
from presage._pictures import MAX_PAGES, convert, scale_boxes

from tests.conversions import INSIDE, OUTSIDE, Conversion, transparent_images

PHONE = Path(__file__).parents[1] / "data" / "phone.heic"


def picture(kind: str, size: tuple[int, int] = (8, 6)) -> bytes:
    """Return a small image."""
    stream = io.BytesIO()
    Image.new("RGB", size, (9, 99, 199)).save(stream, kind)
    return stream.getvalue()


def test_bytes_paths_and_open_files_are_read_from_their_beginning(tmp_path):
    """Every attempt sends the whole file, for each type of argument."""
    path = tmp_path / "tickets.csv"
    path.write_bytes(b"a,b\n")
    with path.open("rb") as stream:
        for file in (b"a,b\n", path, str(path), stream):
            source = open_source(file)
            for _ in range(2):
                assert source.part()[1].read() == b"a,b\n"
            assert source.size == 4
            source.close()


def test_folders_become_archives_with_a_folder_for_each_label(tmp_path):
    """A folder becomes one archive without hidden and other files."""
    for name in ("cat/1.png", "dog/2.jpg", "dog/.hidden.png", ".git/x.png", "dog/notes.docx"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    source = open_source(tmp_path)
    with zipfile.ZipFile(source.stream) as archive:
        assert archive.namelist() == ["cat/1.png", "dog/2.jpg"]
    source.close()
    assert source.name.endswith(".zip")


def test_files_that_cannot_be_sent_are_one_clear_line(tmp_path, monkeypatch):
    """Missing and empty files, empty folders and folders with too many files are refused."""
    (tmp_path / "empty.csv").touch()
    (tmp_path / "nothing").mkdir()
    many = tmp_path / "many"
    many.mkdir()
    for number in range(3):
        (many / f"{number}.png").write_bytes(b"x")
    monkeypatch.setattr(_folders, "MAX_FILES", 2)
    for path, text in (
        (tmp_path / "absent.csv", "No such file"),
        (tmp_path / "empty.csv", "is empty"),
        (tmp_path / "nothing", "has no PNG or JPEG"),
        (many, "more than 2 files"),
        (Path("/dev/null"), "is not a regular file"),
        ("a\0b", "is not a valid path"),
    ):
        with pytest.raises(FileError, match=text):
            open_source(path)


@pytest.mark.parametrize("kind", ["webp", "tiff", "bmp"])
def test_images_of_other_formats_become_jpeg(tmp_path, kind):
    """Formats that the service does not accept are converted to JPEG."""
    path = tmp_path / f"phone.{kind}"
    path.write_bytes(picture(kind))
    for file, name in ((path, "phone.jpg"), (path.read_bytes(), "data.jpg")):
        source = convert(open_source(file))
        assert source.name == name
        assert Image.open(source.stream).size == (8, 6)


def test_accepted_images_are_sent_unchanged(tmp_path):
    """No byte of an image that the service accepts is changed."""
    path = tmp_path / "a.png"
    path.write_bytes(picture("png"))
    source = convert(open_source(path))
    assert source.part()[1].read() == picture("png")
    source.close()


def test_heic_images_become_jpeg():
    """The extra `pictures` reads the format of phones."""
    source = convert(open_source(PHONE))
    assert source.name == "phone.jpg"
    assert Image.open(source.stream).size == (64, 48)


def tiff(*pages: Image.Image, **options: Any) -> bytes:
    """Return the pages as one TIFF."""
    stream = io.BytesIO()
    pages[0].save(stream, "TIFF", save_all=True, append_images=pages[1:], **options)
    return stream.getvalue()


def sent(content: bytes, **options: Any) -> Image.Image:
    """Return an image as it would be sent."""
    return Image.open(convert(open_source(content), **options).stream)


@pytest.mark.parametrize("case", transparent_images(), ids=lambda case: case.name)
def test_transparent_images_get_a_background_that_contrasts(case: Conversion):
    """Dark content comes on white, light content on black; colours below alpha do not show."""
    image = sent(case.content)
    assert (image.getpixel(INSIDE), image.getpixel(OUTSIDE)) == (case.inside, case.outside)


@pytest.mark.parametrize("most", [4095, 65535])
@pytest.mark.parametrize("kind", ["<u2", "<i4", "<f4", ">u2"])
def test_deep_tiff_is_scaled_by_its_real_range(kind, most):
    """A scan of 12 or 16 bits becomes neither black nor white."""
    ramp = np.linspace(0, most, 64 * 64).reshape(64, 64).astype(kind)
    found = np.asarray(sent(tiff(Image.fromarray(ramp))).convert("L"), float)
    assert np.abs(found - np.linspace(0, 255, 64 * 64).reshape(64, 64)).mean() < 2


def test_values_of_a_deep_tiff_may_be_inverted():
    """A 16-bit TIFF in which white is zero is inverted, and one of one value is not stretched."""
    ramp = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype("<u2")
    inverted = sent(tiff(Image.fromarray(ramp), tiffinfo={262: 0})).convert("L")
    assert inverted.getpixel((0, 0)) > 250 > 5 > inverted.getpixel((63, 63))
    flat = Image.fromarray(np.full((9, 9), 65535, "<u2"))
    assert sent(tiff(flat)).convert("L").getextrema() == (255, 255)


def test_all_pages_of_a_tiff_are_read():
    """For `ocr` the pages become a PDF whose boxes are in pixels of the pages."""
    pages = [Image.new("1", (1000, 400 + 10 * number), 1) for number in range(3)]
    source = convert(open_source(tiff(*pages)), takes_pdf=True)
    assert source.name == "data.pdf"
    assert source.scale == 1.0
    with pdfium.PdfDocument(source.part()[1].read()) as document:
        sizes = [document[number].get_size() for number in range(len(document))]
    pixels = [tuple(round(side * 200 / 72) for side in size) for size in sizes]
    assert pixels == [page.size for page in pages]


def test_a_large_tiff_becomes_a_pdf_within_the_limit():
    """Pages are scaled down until the PDF fits; the pages keep their size."""
    pages = [Image.effect_noise((1500, 1200), 100) for _ in range(2)]
    source = convert(open_source(tiff(*pages)), most_bytes=1_200_000, takes_pdf=True)
    assert source.size <= 1_200_000
    with pdfium.PdfDocument(source.part()[1].read()) as document:
        assert round(document[0].get_width() * 200 / 72) == pytest.approx(1500, abs=2)


def test_pages_are_never_dropped_without_an_error(tmp_path):
    """Several pages are refused where one image is needed, and more than the service reads."""
    path = tmp_path / "fax.tif"
    path.write_bytes(tiff(*[Image.new("1", (40, 30))] * 2))
    with pytest.raises(FileError, match="has 2 pages, and one image is needed"):
        convert(open_source(path))
    path.write_bytes(tiff(*[Image.new("1", (40, 30))] * (MAX_PAGES + 1)))
    with pytest.raises(FileError, match="has 9 pages, and at most 8 are read"):
        convert(open_source(path), takes_pdf=True)


def test_a_reduced_copy_in_a_tiff_is_not_a_page():
    """A thumbnail that a camera stores in the file counts as no page."""
    small = Image.new("RGB", (8, 6))
    small.encoderinfo = {"tiffinfo": {254: 1}}
    assert sent(tiff(Image.new("RGB", (80, 60)), small)).size == (80, 60)


def test_oblong_pixels_of_a_fax_become_square():
    """A fax of 204 by 98 dots per inch is as high as the sheet was."""
    assert sent(tiff(Image.new("1", (204, 98), 1), dpi=(204, 98))).size == (204, 204)


def test_images_of_folders_are_converted(tmp_path):
    """Images of other formats and sizes are converted, and their names stay unique."""
    (tmp_path / "cat").mkdir()
    for name, kind in (("a.webp", "webp"), ("a.jpg", "jpeg"), ("b.tif", "tiff")):
        (tmp_path / "cat" / name).write_bytes(picture(kind))
    noise = Image.effect_noise((1200, 1000), 100)
    noise.save(tmp_path / "cat" / "large.png")
    source = open_source(tmp_path)
    with zipfile.ZipFile(source.stream) as archive:
        names = archive.namelist()
        assert names == ["cat/a.jpg", "cat/a.webp.jpg", "cat/b.jpg", "cat/large.jpg"]
        assert all(item.file_size <= 1_000_000 for item in archive.infolist())
    source.close()


def test_folders_with_annotations_keep_their_pixels(tmp_path):
    """Images with boxes are never converted, because boxes are in pixels; they are refused."""
    (tmp_path / "annotations.csv").write_text("x")
    (tmp_path / "a.webp").write_bytes(picture("webp"))
    with pytest.raises(FileError, match="convert them and their boxes first"):
        open_source(tmp_path)


def test_folders_need_the_extra_to_be_converted(tmp_path, monkeypatch):
    """Without Pillow the error names the command that installs it."""
    monkeypatch.setattr(_folders, "can_convert", lambda: False)
    for name in ("a", "b"):
        (tmp_path / f"{name}.webp").write_bytes(picture("webp"))
    with pytest.raises(FileError, match=r"and 1 more .*pip install 'presage-client\[pictures\]'"):
        open_source(tmp_path)


def test_boxes_are_in_pixels_of_the_original_image():
    """Boxes of an image that was scaled down are scaled back."""
    noise = io.BytesIO()
    Image.effect_noise((3600, 180), 100).save(noise, "PNG")
    source = convert(open_source(noise.getvalue()), most_bytes=500_000)
    assert (source.scale, Image.open(source.stream).size[0]) == (1.2, 3000)
    box = {"minX": 10, "minY": 20, "maxX": 100, "maxY": 200}
    nowhere = dict.fromkeys(box, 1)
    found = scale_boxes({"probabilities": [{"boundingBox": box}, {"boundingBox": nowhere}]}, 1.2)
    assert found["probabilities"][0]["boundingBox"] == {
        "minX": 12,
        "minY": 24,
        "maxX": 120,
        "maxY": 240,
    }
    assert found["probabilities"][1]["boundingBox"] == nowhere


def test_batch_of_a_folder_has_its_documents_and_subfolders(tmp_path):
    """Images and PDFs of all subfolders are sent under their paths; a warning names the others."""
    (tmp_path / "march").mkdir()
    contents = {"a.png": picture("PNG"), "march/b.pdf": b"%PDF", "notes.txt": b"x", ".a.png": b""}
    pages = [Image.new("L", (40, 30), 255)] * (MAX_PAGES + 1)
    contents |= {"march/c.tiff": tiff(*pages[:2]), "long.tif": tiff(*pages)}
    contents["march/b.tiff"] = contents["march/c.tiff"]
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    with pytest.warns(UserWarning, match=r"^Not sent.* of images or PDFs: notes\.txt\.$"):
        source = open_batch(tmp_path, "OCRModel")
    with zipfile.ZipFile(source.stream) as archive:
        # A file that cannot be converted is sent as it is, and the service reports its fault.
        names = ["a.png", "long.tif", "march/b.pdf", "march/b.tiff", "march/c.tiff"]
        assert archive.namelist() == names
        assert archive.read("long.tif") == contents["long.tif"]
        # The service recognises files by their content.
        assert len(pdfium.PdfDocument(archive.read("march/c.tiff"))) == 2
    assert open_source(source) is source
    assert source.name == f"{tmp_path.name}.zip"
    source.close()


def test_batch_of_images_has_no_documents(tmp_path):
    """A model of images is not sent the PDFs of a folder, which it would refuse one by one."""
    (tmp_path / "a.png").write_bytes(picture("PNG"))
    (tmp_path / "b.pdf").write_bytes(b"%PDF")
    with pytest.warns(UserWarning, match=r"^Not sent.* of images: b\.pdf\.$"):
        source = open_batch(tmp_path, "GeneralImageClassifier")
    with closing(source), zipfile.ZipFile(source.stream) as archive:
        assert archive.namelist() == ["a.png"]


@pytest.mark.filterwarnings("error")
def test_batch_scales_images_down_only_above_the_limit(tmp_path, monkeypatch):
    """An image up to the limit of documents is sent as it is; a warning names a smaller copy."""
    large = Image.frombytes("RGB", (1500, 1300), os.urandom(1500 * 1300 * 3))
    large.save(tmp_path / "a.png")
    source = open_batch(tmp_path, "OCRModel")
    with closing(source), zipfile.ZipFile(source.stream) as archive:
        assert archive.read("a.png") == (tmp_path / "a.png").read_bytes()
    monkeypatch.setattr(_folders, "MAX_DOCUMENT_BYTES", 1_000_000)
    with pytest.warns(UserWarning, match=r"^Scaled down.*: a\.png\.$"):
        source = open_batch(tmp_path, "any", "ocr")
    with closing(source), zipfile.ZipFile(source.stream) as archive:
        assert len(archive.read("a.png")) <= 1_000_000


@pytest.mark.parametrize(("model", "kinds"), [("OCRModel", "images or PDFs"), ("M", "images")])
def test_batch_of_a_folder_without_files_to_send_is_refused(model, kinds, tmp_path):
    """A folder without any file that the model reads is an error that says so."""
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(FileError, match=f"have no {kinds}"):
        open_batch(tmp_path, model)
