"""Archives of pictures that are broken, hostile or too large, sent over HTTP.

All the while the service must answer its health at once.
"""

from __future__ import annotations

import io
import zipfile

import pytest

from tests.bad_input.watch import watched_health
from tests.formats.archives.raw_archives import Raw, raw_zip, zip64_end
from tests.live import Live
from tests.pictures import a_box, annotations, draw, make_zip

UPLOAD = "/v2/vision/datasets/upload"
SYNC = f"{UPLOAD}/sync"
GOOD = Raw(b"cat/1.png", draw())
INVALID = "Invalid zip format provided for bad"


@pytest.fixture(autouse=True)
def health(live: Live):
    """Nothing of this file keeps the service from answering others."""
    with watched_health(live):
        yield


def read(caller, content, kind="image"):
    """Upload an archive; return its dataset and receipt, which must add up."""
    dataset = caller.upload(content, kind, "bad.zip", SYNC).ok()
    (receipt,) = caller.get(f"/v2/vision/datasets/{dataset['id']}/receipts").ok()["data"]
    assert receipt["seen"] == receipt["kept"] + receipt["duplicates"] + receipt["rejected"]
    assert dataset["totalExamples"] == receipt["kept"]
    return dataset, receipt


def failed(caller, content, kind="image"):
    """Upload an archive that is of no use; return what is said about it."""
    dataset, receipt = read(caller, content, kind)
    assert dataset["statusMsg"].startswith("FAILED: "), dataset
    assert dataset["available"] is False
    assert dataset["labelSummary"]["labels"] == []
    assert receipt["status"] == "FAILED"
    return f"{dataset['statusMsg']} {receipt['message']}"


def flat_bomb():
    """Entries that unpack to 64 MB each; every second one says that it is small."""
    zeros = Raw(b"", bytes(64 << 20))
    entries = [
        Raw(
            b"cat/b%d.png" % number,
            packed=zeros.packed,
            crc=zeros.crc,
            size=1 << 20 if number % 2 else 64 << 20,
        )
        for number in range(20)
    ]
    return raw_zip([GOOD, *entries])


def nested_bomb():
    """Make archives in archives, 16 in each."""
    content = make_zip({"0.png": bytes(64 << 20)})
    for level in range(4):
        content = make_zip({f"cat/{level}-{number}.zip": content for number in range(16)})
    return make_zip({"cat/1.png": draw(), "cat/nested.zip": content})


def overlapping_bomb():
    """5,000 entries that share one run of zeros."""
    kernel = Raw(b"cat/1.png", bytes(1 << 20))
    shared = {"content": b"", "packed": b"", "packed_size": len(kernel.packed), "offset": 0}
    return raw_zip([kernel, *(Raw(b"cat/%05d.png" % number, **shared) for number in range(5_000))])


def encrypted():
    """Make an archive with a password."""
    return raw_zip([Raw(b"cat/%d.png" % number, b"x" * 500, flags=1) for number in range(9)])


def truncated():
    """Make an archive whose download broke off."""
    return make_zip({f"cat/{number}.png": draw(salt=number) for number in range(20)})[:-100]


def damaged():
    """Make an archive whose directory is overwritten."""
    return make_zip({"cat/1.png": draw()}).replace(b"PK\x01\x02", b"XK\x01\x02")


@pytest.mark.parametrize("kind", ["image-multi-label", "image-detection"])
def test_broken_archive_of_every_type(maker, kind):
    """The documented text stands for every type."""
    assert INVALID in failed(maker, truncated(), kind)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (truncated, (INVALID,)),
        (damaged, (INVALID,)),
        (overlapping_bomb, ("overlap",)),
        (encrypted, ("All 9 files of the archive are encrypted", "without a password")),
        (lambda: b"PK\x03\x04" + bytes(64) + zip64_end(100_001, 46, 0), ("100,001", "100,000")),
        (lambda: raw_zip([]), ("no",)),
        (lambda: make_zip({"cat/": b"", "__MACOSX/cat/1.png": b"x", ".hidden": b"x"}), ("no",)),
    ],
)
def test_archive_of_no_use_has_failed_with_a_reason(maker, make, words):
    """A broken or hostile archive becomes a FAILED dataset with a reason and no examples."""
    said = failed(maker, make())

    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("make", "rejected", "word"),
    [(flat_bomb, 20, "67,108,864"), (nested_bomb, 1, "zip")],
)
def test_bomb_costs_only_itself(maker, make, rejected, word):
    """A bomb is rejected by name; the valid image next to it is stored."""
    dataset, receipt = read(maker, make())

    assert (dataset["statusMsg"], dataset["totalExamples"]) == ("SUCCEEDED", 1)
    assert receipt["rejected"] == rejected
    assert any(word in item["reason"] for item in receipt["rejections"])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Raw(b"../../cat/a.png", GOOD.content), "leads out"),
        (Raw(b"cat/../../b.png", GOOD.content), "leads out"),
        (Raw(b"cat\\..\\..\\b.png", GOOD.content), "leads out"),
        (Raw(b"/etc/a.png", GOOD.content), "absolute"),
        (Raw(b"C:\\cat\\a.png", GOOD.content), "absolute"),
        (Raw(b"cat/a\x00.png", GOOD.content), "control character"),
        (Raw(b"cat/a.png", b"/etc/passwd", mode=0o120777), "link"),
        (Raw(b"cat/a.png", GOOD.content, flags=1), "encrypted"),
        (Raw(b"cat/a.png", GOOD.content, crc=1), "checksum"),
        (Raw(b"cat/a.png", GOOD.content, size=9), "size"),
        (Raw(b"cat/a.png", GOOD.content, method=99), "compression method 99"),
        (Raw(b"a.png", GOOD.content), "folder"),
        (Raw(b"cat/a.png", b""), "0 bytes"),
        (Raw(b"cat/a.png", GOOD.content[:-9]), "truncated"),
        (Raw(b"cat/a.png", b"GIF89a" + bytes(99)), "GIF"),
        (Raw(b"cat/a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "SVG"),
        (Raw(b"cat/a.png", bytes((1 << 20) + 1)), "1,048,577"),
        (Raw(b"cat/notes.txt", b"hello there"), "text"),
    ],
)
def test_bad_entry_costs_only_itself(maker, entry, words):
    """An unusable entry is rejected by name; the others are stored."""
    dataset, receipt = read(maker, raw_zip([GOOD, entry]))

    labels = [(x["name"], x["numExamples"]) for x in dataset["labelSummary"]["labels"]]
    assert labels == [("cat", 1)]
    (item,) = receipt["rejections"]
    assert words in item["reason"], item
    assert item["file"]


BOX = a_box("cat", 1, 2, 10, 12)


def scenes(table):
    """Make a detection archive of two images with an annotation file."""
    return make_zip({"one.png": draw(), "two.png": draw("square"), "annotations.csv": table})


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        (["{"], "not JSON"),
        (["cat"], "not JSON"),
        (["[1]"], "not an object"),
        (["[" * 4_000], "nested too deeply"),
        ([BOX | {"label": ""}], "label"),
        ([BOX | {"label": 5}], "label"),
        ([BOX | {"label": "a\x07b"}], "U+0007"),
        ([{k: v for k, v in BOX.items() if k != "width"}], '"width" is missing'),
        ([BOX | {"x": "left"}], '"x" is not a number'),
        ([BOX | {"x": True}], '"x" is not a number'),
        ([BOX | {"width": 0}], "above 0"),
        ([BOX | {"height": -3}], "above 0"),
        ([BOX | {"x": 900}], "outside"),
        ([BOX | {"y": -90}], "outside"),
        (['{"label": "cat", "x": NaN, "y": 1, "width": 3, "height": 4}'], "finite"),
        (['{"label": "cat", "x": 1e999, "y": 1, "width": 3, "height": 4}'], "finite"),
        (["9" * 6_000], "5,000"),
    ],
)
def test_bad_box_costs_only_itself(maker, cells, word):
    """An invalid box is rejected with file, row and box; the others are stored."""
    table = annotations([("one.png", [BOX]), ("two.png", [BOX, *cells])])

    dataset, receipt = read(maker, scenes(table), "image-detection")

    assert (dataset["statusMsg"], receipt["kept"], receipt["rejected"]) == ("SUCCEEDED", 2, 1)
    (item,) = receipt["rejections"]
    assert word in item["reason"], item
    assert (item["row"], "box1" in item["reason"], "two.png" in item["reason"]) == (3, True, True)


def test_rows_and_pictures_that_do_not_meet(maker):
    """A row without an image rejects its boxes; an image without boxes counts once."""
    table = annotations([("one.png", [BOX]), ("gone.png", [BOX, BOX | {"x": 2}])])

    dataset, receipt = read(maker, scenes(table), "image-detection")

    assert (dataset["totalExamples"], receipt["rejected"]) == (1, 3)
    reasons = " ".join(item["reason"] for item in receipt["rejections"])
    assert "gone.png" in reasons
    assert "no box of this image" in reasons


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (b"", "annotations.csv"),
        (b"image_file,box0\r\n", "box"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "annotations.csv cannot be read"),
        (b"PK\x03\x04" + bytes(200), "annotations.csv cannot be read"),
        (b"\xff\xfea", "annotations.csv cannot be read"),
        (b'one.png,"{""label"": ""a""\r\n' * 50_000, "None of"),
        (b"x,y\r\none.png" + b"," * 3_000_000, "2,000,000 characters"),
        (None, "no annotations.csv"),
    ],
)
def test_annotations_of_no_use(maker, table, words):
    """An annotation file without a usable box fails the upload with the cause."""
    files = {"one.png": draw(), "two.png": draw("square")}
    archive = make_zip(files if table is None else {**files, "annotations.csv": table})

    assert words in failed(maker, archive, "image-detection")


def test_two_annotation_files(maker):
    """Two annotation files are refused."""
    table = annotations([("one.png", [BOX])])
    archive = make_zip({"one.png": draw(), "annotations.csv": table, "b/annotations.csv": table})

    assert "two files named annotations.csv" in failed(maker, archive, "image-detection")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (draw(), "PNG"),
        (draw(kind="JPEG"), "JPEG"),
        (b"GIF89a" + bytes(100), "GIF"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(100), "RAR"),
        (b"%PDF-1.7\n" + bytes(100), "PDF"),
        (b"<!DOCTYPE html><html></html>", "HTML"),
        (b"text,label\nhello,a\n", "zip"),
        (bytes(5_000), "zip"),
    ],
)
@pytest.mark.parametrize("path", [SYNC, UPLOAD, "PUT"])
def test_other_file_is_a_415(live, painter, content, word, path):
    """Bytes of another type are refused in the call, whatever the name says."""
    method = "PUT" if path == "PUT" else "POST"
    target = f"/v2/vision/datasets/{live.studio.scenes['id']}/upload" if method == "PUT" else path

    painter.form(method, target, ("data", content, "pictures.zip")).refused(415, word, ".zip")


def test_archive_over_50_mb_is_a_413(painter):
    """One byte more than the limit is refused, naming both and the remedy."""
    size = 50 * 1024 * 1024 + 1
    content = b"PK\x03\x04" + bytes(size - 4)

    answer = painter.form("POST", UPLOAD, ("data", content, "big.zip"))

    answer.refused(413, str(size), str(size - 1), "path")


def test_pictures_in_a_language_dataset_and_texts_in_a_vision_one(painter):
    """A type of the other family is refused with the valid types."""
    for kind in ("text-intent", "images", "IMAGE"):
        answer = painter.form(
            "POST", UPLOAD, ("type", kind.encode(), None), ("data", make_zip({}), "a.zip")
        )
        answer.refused(400, "type", "image-detection")


def test_failed_put_changes_nothing(live, maker):
    """After a broken archive was added, the dataset has what it had and may be added to again."""
    dataset, _ = read(maker, make_zip({"cat/1.png": draw(), "dog/2.png": draw("square")}))
    path = f"/v2/vision/datasets/{dataset['id']}"
    for content in (truncated(), encrypted()):
        maker.form("PUT", f"{path}/upload", ("data", content, "bad.zip")).ok()
        after = maker.wait(path, "statusMsg", "UPLOADING")

        assert after["statusMsg"].startswith("FAILED: ")
        assert after["available"] is True
        assert after["labelSummary"] == dataset["labelSummary"]
    maker.form(
        "PUT", f"{path}/upload", ("data", make_zip({"dog/3.png": draw("cross")}), "good.zip")
    ).ok()
    assert maker.wait(path, "statusMsg", "UPLOADING")["totalExamples"] == 3


@pytest.mark.parametrize(
    ("trap", "status"),
    [("missing", 400), ("page", 400), ("nonsense", 400), ("empty", 400), ("huge", 413)],
)
def test_paths_that_are_refused_in_the_call(live, maker, trap, status):
    """A URL that certainly gives no archive is refused in the call."""
    maker.json("POST", UPLOAD, {"path": live.tricks.url(f"/{trap}.zip")}).refused(status)


@pytest.mark.parametrize(
    ("trap", "words"),
    [("short", "connection"), ("honest", "Invalid zip")],
)
def test_paths_that_turn_out_to_be_of_no_use(live, maker, trap, words):
    """A URL whose file proves unusable fails the dataset afterwards."""
    made = maker.json("POST", UPLOAD, {"path": live.tricks.url(f"/{trap}.zip")}).ok()
    done = maker.wait(f"/v2/vision/datasets/{made['id']}", "statusMsg", "UPLOADING")

    assert done["statusMsg"].startswith("FAILED: ")
    assert words in done["statusMsg"]


def test_names_are_never_executed_or_escaped(maker):
    """Names with markup and quotes are returned unchanged as JSON."""
    name = '<img src=x onerror="alert(1)">\'"; DROP TABLE.png'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"<b>cat</b>/{name}".replace("</b>", "<b>"), draw())

    dataset, _ = read(maker, file.getvalue())
    answer = maker.get(f"/v2/vision/datasets/{dataset['id']}/examples")

    (example,) = answer.ok()["data"]
    assert example["name"] == name
    assert example["label"]["name"] == "<b>cat<b>"
    assert answer.headers["content-type"] == "application/json"
