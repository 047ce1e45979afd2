"""The outcome of each image of a zip upload."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image

from chalicelib.domain.common.limits import MAX_DATASET_BYTES, MAX_DATASET_EXAMPLES, MAX_REJECTIONS
from chalicelib.domain.datasets.example import box_digest, picture_digest
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload, ServiceError, TimedOut
from chalicelib.formats.archives.picture_scan import ImageRules, ImageScan, Sink, scan_images
from chalicelib.formats.archives.zip_directory import InvalidZip
from chalicelib.formats.pictures.rules import PictureFacts
from tests.formats.archives.raw_archives import Raw, raw_zip
from tests.pictures import a_box, annotations, detection_files, draw, label_folders, make_zip

ONE, TWO, THREE = draw("circle"), draw("square", kind="JPEG"), draw("cross", size=(40, 30))
ONE_DIGEST = picture_digest(ONE)


class Shelf:
    """Accepts images and remembers them."""

    def __init__(self) -> None:
        self.pictures: dict[bytes, bytes] = {}
        self.facts: list[PictureFacts] = []
        self.checks = 0

    def keep(self, digest: bytes, data: bytes, facts: PictureFacts) -> None:
        """Take a picture, each only once."""
        assert digest == picture_digest(data)
        assert digest not in self.pictures
        self.pictures[digest] = data
        self.facts.append(facts)

    def check(self) -> None:
        """Count the checks."""
        self.checks += 1


def _scan(
    files: Mapping[str, bytes] | bytes, type_: str = "image", **more: Any
) -> tuple[ImageScan, Shelf]:
    """Scan an archive; every result must add up."""
    shelf = Shelf()
    content = files if isinstance(files, bytes) else make_zip(files)
    rules = ImageRules(type_, **more)
    scan = scan_images(io.BytesIO(content), rules, Sink(shelf.keep, shelf.check))
    assert scan.seen == scan.kept + scan.duplicates + scan.rejected
    assert scan.kept == len(scan.items) == sum(scan.kept_by_label.values())
    assert len(scan.rejections) == min(scan.rejected, MAX_REJECTIONS)
    assert {item.digest for item in scan.items} == set(shelf.pictures)
    assert scan.new_labels == [label for label in scan.kept_by_label if label not in rules.known]
    return scan, shelf


def _boxes(*rows: tuple[str, list[Any]], **pictures: bytes) -> dict[str, bytes]:
    """Make a detection archive of images named by keyword and the rows given."""
    files = {f"{name}.png": content for name, content in pictures.items()}
    return {**files, "annotations.csv": annotations(rows)}


def test_label_is_the_parent_folder_at_any_depth() -> None:
    """The folder that directly contains an image is its label, in order of appearance."""
    scan, shelf = _scan({"x/y/cat/1.png": ONE, "cat/2.png": TWO, " dog /3.txt": THREE})

    assert [(item.label, item.name, item.box) for item in scan.items] == [
        ("cat", "1.png", None),
        ("cat", "2.png", None),
        ("dog", "3.txt", None),
    ]
    assert scan.new_labels == ["cat", "dog"]
    assert list(shelf.pictures.values()) == [ONE, TWO, THREE]
    assert [(fact.kind, fact.width, fact.height) for fact in shelf.facts] == [
        ("png", 32, 32),
        ("jpeg", 32, 32),
        ("png", 40, 30),
    ]
    assert scan.bytes == len(ONE) + len(TWO) + len(THREE)
    assert shelf.checks == 3


@pytest.mark.parametrize(
    ("folders", "words"),
    [
        (("cat/images", "dog/images"), "Folders such as cat hold folders of the same names"),
        (("images", "photos"), "No folder is named by a label. If another file"),
    ],
)
def test_remedy_for_labels_that_are_no_names(folders: tuple[str, ...], words: str) -> None:
    """Images move up if the labels are above folders such as `images`; else a table names them."""
    scan, _ = _scan({f"{folder}/{at}.png": draw(salt=at) for at, folder in enumerate(folders)})

    assert words in {warning.code: warning.message for warning in scan.warnings}["splitFolders"]


def test_remedy_for_pictures_in_no_folder() -> None:
    """Images next to a table are not said to be in folders; the remedy names the table."""
    files = {"1.png": ONE, "images/2.png": TWO, "boxes.csv": b"image,box0\n1.png,\n"}
    scan, _ = _scan(files)

    found = {warning.code: warning.message for warning in scan.warnings}["splitFolders"]
    assert found.startswith("No folder is named by a label. If boxes.csv holds the labels, rename")


@pytest.mark.parametrize("type_", ["image", "image-multi-label"])
def test_same_picture_under_several_labels(type_: str) -> None:
    """Equal bytes in several folders are one image with several labels, stored once."""
    scan, shelf = _scan({"cat/1.png": ONE, "pet/2.png": ONE, "cat/3.png": ONE}, type_)

    assert [(item.label, item.name) for item in scan.items] == [("cat", "1.png"), ("pet", "2.png")]
    assert (scan.duplicates, len(shelf.pictures), scan.bytes) == (1, 1, len(ONE))


def test_known_pictures() -> None:
    """An image the dataset has is a duplicate under its label, and a new example elsewhere."""
    known = {"cat": {ONE_DIGEST}, "dog": set()}
    scan, shelf = _scan({"cat/1.png": ONE, "dog/1.png": ONE, "Cat/2.png": TWO}, known=known)

    assert (scan.kept, scan.duplicates, scan.new_labels) == (2, 1, ["Cat"])
    assert scan.bytes == len(TWO)
    assert set(shelf.pictures) == {ONE_DIGEST, picture_digest(TWO)}


def test_upload_of_duplicates_only() -> None:
    """A PUT that adds nothing new succeeds."""
    scan, shelf = _scan({"cat/1.png": ONE}, known={"cat": {ONE_DIGEST}})

    assert (scan.kept, scan.duplicates, scan.bytes, shelf.pictures) == (0, 1, 0, {})


def test_names_that_differ_in_case_alone() -> None:
    """`Cat` and `cat` are two labels, and `A.png` and `a.png` two files."""
    scan, _ = _scan({"cat/a.png": ONE, "Cat/a.png": ONE, "cat/A.png": TWO})

    assert scan.kept_by_label == {"cat": 2, "Cat": 1}


def test_names_of_all_scripts() -> None:
    """Umlauts, Chinese and emoji are unchanged in labels and names."""
    content = raw_zip(
        [
            Raw(b"\x84pfel/\x94l.png", ONE),
            Raw("猫/😀.png".encode(), TWO, flags=0x800),
            Raw("Bäume\\x.png".encode(), THREE),
        ]
    )
    scan, _ = _scan(content)

    assert [(item.label, item.name) for item in scan.items] == [
        ("äpfel", "öl.png"),
        ("猫", "😀.png"),
        ("Bäume", "x.png"),
    ]


def test_long_names_are_cut() -> None:
    """File names are cut to 150 characters, labels to 180."""
    scan, _ = _scan({f"{'l' * 200}/{'n' * 200}.png": ONE})

    (item,) = scan.items
    assert (item.label, item.name) == ("l" * 180, "n" * 150)


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("root.png", ONE, "not in a folder"),
        (" /1.png", ONE, "label is empty"),
        ("../cat/1.png", ONE, "leads out"),
        ("/cat/1.png", ONE, "absolute"),
        ("cat/1.png", b"GIF89a", "GIF"),
        ("cat/1.png", b"", "0 bytes"),
        ("cat/1.png", ONE[:-20], "."),
        ("cat/inner.zip", make_zip({"cat/2.png": TWO}), "zip archive"),
        ("cat/1.png", ONE + bytes(1 << 20), r"bytes, the limit is 1,048,576 \(1 MB\)"),
        ("cat/notes.txt", b"notes", "PNG and JPEG"),
        ("cat\x85/1.png", ONE, "control character"),
    ],
)
def test_rejected_files(path: str, content: bytes, words: str) -> None:
    """A file that cannot be an example is rejected with its reason; others are accepted."""
    scan, _ = _scan({path: content, "dog/good.png": TWO, "dog/.hidden": b"x", "Thumbs.db": b"x"})

    assert (scan.kept, scan.rejected) == (1, 1)
    (item,) = scan.rejections
    assert (item.row, item.file) == (None, path.replace("\x85", "\N{REPLACEMENT CHARACTER}"))
    assert re.search(words, item.reason)


def test_links_are_not_followed() -> None:
    """A symbolic link is rejected."""
    scan, _ = _scan(raw_zip([Raw(b"a/l.png", b"../b/1.png", mode=0o120777), Raw(b"b/1.png", ONE)]))

    assert [item.file for item in scan.rejections] == ["a/l.png"]


@pytest.mark.parametrize("type_", ["image", "image-detection"])
def test_labels_that_cutting_would_merge(type_: str) -> None:
    """Labels that are equal in their first 180 characters are both refused."""
    first, second = "x" * 180 + "a", "x" * 180 + "b"
    if type_ == "image":
        files = {f"{first}/1.png": ONE, f"{second}/2.png": TWO, "cat/3.png": THREE}
    else:
        boxes = [a_box(label, 1, 2, 3, 4) for label in (first, second, "cat")]
        files = _boxes(("a.png", boxes), a=ONE)
    scan, _ = _scan(files, type_)

    assert (scan.kept_by_label, scan.rejected) == ({"cat": 1}, 2)
    assert "first 180 characters" in scan.rejections[0].reason


def test_rejections_beyond_the_named_ones() -> None:
    """All rejections are counted, and the first hundred listed."""
    files = {f"{'é' * 300}/{number}.txt": b"x" for number in range(150)}
    scan, _ = _scan({**files, "a/1.png": ONE})

    assert scan.rejected == 150
    assert len(json.dumps([vars(item) for item in scan.rejections])) < 200_000


def test_detection() -> None:
    """Boxes become examples with label, file and position; images are stored once."""
    scan, shelf = _scan(detection_files(3), "image-detection")

    assert scan.kept_by_label == {"circle": 3, "square": 3}
    assert next(iter(scan.items)).box == Box(4, 8, 30, 30)
    assert len(shelf.pictures) == 3
    assert (scan.rejected, scan.bytes) == (0, sum(map(len, shelf.pictures.values())))


def test_detection_pictures_in_folders() -> None:
    """annotations.csv and the images may be in any folder, in any order."""
    csv = annotations(
        [("1.png", [a_box("a", 1, 1, 5, 5)]), ("other/2.png", [a_box("b", 1, 1, 5, 5)])]
    )
    pictures = {"d/set/1.png": ONE, "d/other/2.png": TWO}

    for files in ({**pictures, "d/annotations.csv": csv}, {"annotations.csv": csv, **pictures}):
        scan, _ = _scan(files, "image-detection")
        assert [(item.label, item.name) for item in scan.items] == [("a", "1.png"), ("b", "2.png")]


def test_detection_duplicates() -> None:
    """Equal boxes of one picture and label are duplicates, also of what the dataset has."""
    box, other = a_box("cat", 1, 2, 3, 4), a_box("dog", 1.0, 2, 3, 4)
    held = Box(9, 9, 5, 5)
    files = _boxes(
        ("a.png", [box, box, other]),
        ("a.png", [box, a_box("cat", 9, 9, 5, 5)]),
        ("b.png", [a_box("cat", "1", "2", "3", "4"), a_box("cat", 1, 2, 3, 5)]),
        a=ONE,
        b=ONE,
    )
    known = {"cat": {box_digest(ONE_DIGEST, held)}}
    scan, shelf = _scan(files, "image-detection", known=known, pictures={ONE_DIGEST})

    assert (scan.kept_by_label, scan.duplicates) == ({"cat": 2, "dog": 1}, 4)
    assert [item.name for item in scan.items] == ["a.png", "a.png", "b.png"]
    assert (len(shelf.pictures), scan.bytes) == (1, 0)


def test_detection_rejections() -> None:
    """Each box is counted, an image without a box once, and each rejection has its place."""
    files = _boxes(
        (
            "a.png",
            [a_box("x", 30, 20, 30, 4), "{", a_box("x", 1, 1, -1, 4), a_box("x", 1, 1, 5, 5)],
        ),
        ("broken.png", [a_box("x", 1, 1, 5, 5), a_box("y", 1, 1, 5, 5)]),
        ("gone.png", [a_box("x", 1, 1, 5, 5)]),
        ("spoilt.png", ["{"]),
        ("bare.png", []),
        a=ONE,
        broken=ONE[:-30],
        spoilt=TWO,
        bare=THREE,
        extra=draw("triangle"),
    )
    scan, shelf = _scan({**files, "notes.txt": b"x"}, "image-detection")

    assert (scan.kept, scan.rejected, len(shelf.pictures)) == (1, 10, 1)
    places = [item.reason.partition(":")[0] for item in scan.rejections]
    assert places[:6] == [
        "Row 2, box1 of a.png",
        "Row 2, box2 of a.png",
        "Row 4, box0 of gone.png",
        "Row 5, box0 of spoilt.png",
        "Row 2, box0 of a.png",
        "Row 3, box0 of broken.png",
    ]
    assert "image of 32 × 32 pixels" in scan.rejections[4].reason
    assert [item.file for item in scan.rejections[6:]] == [
        "broken.png",
        "bare.png",
        "extra.png",
        "notes.txt",
    ]


def test_box_reaching_out_is_clipped() -> None:
    """A box that extends one pixel beyond the image is clipped."""
    scan, _ = _scan(_boxes(("a.png", [a_box("x", 20, 10, 13, 5)]), a=ONE), "image-detection")

    assert [item.box for item in scan.items] == [Box(20, 10, 12, 5)]


@pytest.mark.parametrize(
    ("files", "type_", "words"),
    [
        ({}, "image", "holds no images. Send PNG and JPEG files in a folder for each label"),
        ({"cat/": b"", "a/.DS_Store": b"x"}, "image", "holds no images"),
        ({"a.png": ONE}, "image", "None of the 1 files can be used. a.png: the file is not in a"),
        ({"a.png": ONE}, "image-detection", "has no annotations.csv. Add one"),
        ({"a.png": ONE, "Annotations.CSV": b"x"}, "image-detection", "Rename Annotations.CSV"),
        (
            {"a/annotations.csv": b"x", "b/annotations.csv": b"x"},
            "image-detection",
            "two files named annotations.csv: a/annotations.csv and b/annotations.csv",
        ),
        ({"annotations.csv": b""}, "image-detection", "it looks like an empty file"),
        ({"annotations.csv": b"image,box0\r\n"}, "image-detection", "no images.*annotations.csv"),
        (
            _boxes(("a.png", [a_box("x", 1, 1, 0, 1)]), a=ONE),
            "image-detection",
            "None of the 1 boxes and images can be used. Row 2, box0 of a.png: the box is 0 × 1",
        ),
    ],
)
def test_archives_of_no_use(files: dict[str, bytes], type_: str, words: str) -> None:
    """An archive without a usable example is refused with the first cause and the remedy."""
    with pytest.raises(InvalidUpload, match=words):
        _scan(files, type_)


def test_no_archive() -> None:
    """A file that is not an archive is an InvalidZip; the caller adds the documented text."""
    with pytest.raises(InvalidZip):
        _scan(ONE)


@pytest.mark.parametrize(
    ("files", "more", "words"),
    [
        ({"a/1.png": ONE}, {"bytes": MAX_DATASET_BYTES - 10}, r"at most 2,147,483,648 \(2 GB\)"),
        ({"a/1.png": ONE}, {"examples": MAX_DATASET_EXAMPLES}, "1,000,001 examples; at most"),
        (
            {"new/1.png": ONE},
            {"known": {str(number): set() for number in range(1_000)}},
            "1,001 labels; at most 1,000",
        ),
    ],
)
def test_limits_of_a_dataset(files: dict[str, bytes], more: dict[str, Any], words: str) -> None:
    """An archive over a limit is refused with limit, value and remedy."""
    with pytest.raises(InvalidUpload, match=words):
        _scan(files, **more)


def test_exactly_at_the_limits() -> None:
    """An archive exactly at the limits is accepted."""
    known = {str(number): set() for number in range(999)}
    limits = {"bytes": MAX_DATASET_BYTES - len(ONE), "examples": MAX_DATASET_EXAMPLES - 1}

    assert _scan({"new/1.png": ONE}, known=known, **limits)[0].kept == 1


def test_size_limit_of_a_detection_picture() -> None:
    """Detection pictures may have 5 MB, others 1 MB."""
    noise = hashlib.shake_256(b"x").digest(3 * 700 * 700)
    file = io.BytesIO()
    Image.frombytes("RGB", (700, 700), noise).save(file, "PNG")
    boxes = [a_box("x", 1, 1, 5, 5)]

    assert _scan(_boxes(("a.png", boxes), a=file.getvalue()), "image-detection")[0].kept == 1
    scan, _ = _scan({"a/1.png": file.getvalue(), "a/2.png": ONE})
    assert "the limit is 1,048,576 (1 MB)" in scan.rejections[0].reason


def test_one_label_one_picture_and_equal_pictures() -> None:
    """One label, or one image, is enough for a dataset; training checks its own minimum."""
    assert _scan({"a/1.png": ONE})[0].kept == 1
    scan, _ = _scan({f"a/{number}.png": ONE for number in range(5)})
    assert (scan.kept, scan.duplicates) == (1, 4)


def test_sink_stops_the_scan() -> None:
    """An exception of the caller while storing or checking is propagated unchanged."""
    content = io.BytesIO(make_zip(label_folders({"a": 2})))

    def stop(*_: object) -> None:
        raise TimedOut("now")

    with pytest.raises(TimedOut):
        scan_images(content, ImageRules("image"), Sink(stop, lambda: None))
    with pytest.raises(TimedOut):
        scan_images(content, ImageRules("image"), Sink(lambda *_: None, stop))


def test_scan_is_repeatable() -> None:
    """A second scan gives the same result."""
    content = make_zip(detection_files(3))

    first, second = (_scan(content, "image-detection")[0] for _ in range(2))

    assert list(first.items) == list(second.items)
    assert first.new_labels == second.new_labels


VALID = make_zip({**label_folders({"circle": 2}), **detection_files(2)})


@hypothesis_settings(max_examples=120, deadline=2_000)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), min_size=1, max_size=6
    ),
    type_=st.sampled_from(["image", "image-detection"]),
)
def test_mutated_archive(changes: list[tuple[int, int]], type_: str) -> None:
    """Any mutated archive gives a result that adds up, or a documented refusal."""
    content = bytearray(VALID)
    for at, value in changes:
        content[at] = value
    with suppress(ServiceError):
        _scan(bytes(content), type_)
