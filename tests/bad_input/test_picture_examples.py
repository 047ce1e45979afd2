"""Odd picture files as single examples and as feedback: the good are kept, the others refused."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from chalicelib.domain.datasets.dataset import VISION
from chalicelib.domain.models.model import SUCCEEDED, Model
from tests.formats.drawn import chunk, encoded, jpeg_header, noise, png, scene, turned, zeros
from tests.live import Caller, Live

MEGABYTE = 1024 * 1024
PNG, JPEG = encoded(scene(), "PNG"), encoded(scene(), "JPEG")

GOOD = {
    "one pixel": lambda: encoded(scene(1, 1), "PNG"),
    "one pixel as JPEG": lambda: encoded(scene(1, 1), "JPEG"),
    "CMYK": lambda: encoded(scene(mode="CMYK"), "JPEG"),
    "progressive": lambda: encoded(scene(), "JPEG", progressive=True, quality=50),
    "grey": lambda: encoded(scene(mode="L"), "JPEG"),
    "16 bits": lambda: encoded(scene(mode="I;16"), "PNG"),
    "16 bits of colour": lambda: png((2, 2), 16, 2, zlib.compress(bytes(2 * 13))),
    "one bit": lambda: encoded(scene(mode="1"), "PNG"),
    "palette with alpha": lambda: encoded(scene(mode="P"), "PNG", transparency=bytes(range(256))),
    "alpha": lambda: encoded(noise(9, 7, "RGBA"), "PNG"),
    "turned": lambda: turned(scene(), "JPEG", 6),
    "turned PNG": lambda: turned(scene(), "PNG", 8),
    "trailing bytes": lambda: PNG + b"<script>alert(1)</script>",
    "more rows than it says": lambda: png((8, 8), 8, 2, zeros(500_000_000)),
    "300 MB of packed text": lambda: png(
        (1, 1), 8, 0, zlib.compress(b"\0\0"), chunk(b"zTXt", b"a\0\0" + zeros(300_000_000))
    ),
    "exactly 1 MB": lambda: JPEG + bytes(MEGABYTE - len(JPEG)),
}
"""What is kept, under a name that lies about its type."""

BAD: dict[str, tuple[Callable[[], bytes], int, tuple[str, ...]]] = {
    "1 MB and a byte": (
        lambda: JPEG + bytes(MEGABYTE + 1 - len(JPEG)),
        413,
        ("1048577", "1048576", "smaller"),
    ),
    "5 MB": (lambda: noise(1, 1).tobytes() + bytes(5 * MEGABYTE), 413, ("1048576",)),
    "bomb": (
        lambda: png((9000, 9000), 8, 2, zeros(9000 * (1 + 3 * 9000) >> 8)),
        400,
        ("81000000 pixels", "50000000"),
    ),
    "header of 65,535 x 65,535": (
        lambda: jpeg_header(65_535, 65_535) + JPEG[-200:],
        400,
        ("65535 x 65535", "50000000"),
    ),
    "header of no pixels": (lambda: jpeg_header(0, 10), 400, ()),
    "truncated PNG": (lambda: PNG[: len(PNG) // 2], 400, ("cannot be read", "Save it again")),
    "truncated JPEG": (lambda: JPEG[: len(JPEG) // 2], 400, ("cannot be read", "Save it again")),
    "signature alone": (lambda: PNG[:8], 400, ()),
    "wrong checksum": (lambda: PNG[:40] + b"\xff" + PNG[41:], 400, ()),
    "strip": (lambda: encoded(scene(1, 200), "PNG"), 400, ("1 x 200", "100 times")),
    "animated GIF": (
        lambda: encoded(scene(), "GIF", save_all=True, append_images=[scene(mode="L")]),
        415,
        ("a GIF image", "PNG and JPEG"),
    ),
    "WebP": (lambda: encoded(scene(), "WEBP"), 415, ("a WebP image", "PNG and JPEG")),
    "BMP": (lambda: encoded(scene(), "BMP"), 415, ("a BMP image",)),
    "TIFF": (lambda: encoded(scene(), "TIFF"), 415, ("a TIFF image",)),
    "SVG": (
        lambda: b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        415,
        ("an SVG image",),
    ),
    "HTML": (lambda: b"<!DOCTYPE html><img src=x onerror=alert(1)>", 415, ("an HTML page",)),
    "zip": (lambda: b"PK\3\4" + bytes(40), 415, ("a zip archive",)),
    "text": (lambda: b"no picture at all", 415, ("a text file",)),
    "noise": (lambda: noise(8, 8).tobytes(), 415, ("PNG and JPEG",)),
}


@pytest.fixture(scope="module")
def album(maker: Caller) -> int:
    """A dataset that takes pictures."""
    fields = {"name": "odd images", "labels": "odd"}
    return int(maker.json("POST", "/v2/vision/datasets", fields).ok()["id"])


@pytest.fixture(scope="module")
def model_id(live: Live, maker: Caller, album: int) -> str:
    """The row of a model of that dataset, as a training would leave it."""
    now = datetime.now(UTC)
    model = Model(
        account_id=maker.account_id,
        model_id="ODDPICTURES" + "A" * 15,
        name="odd images",
        dataset_id=album,
        family=VISION,
        type="image",
        language="N/A",
        status=SUCCEEDED,
        progress=1,
        created_at=now,
        updated_at=now,
    )
    live.container().stores.models.create(model)
    return model.model_id


def send(maker: Caller, path: str, content: bytes, file_name: str, **fields: str):
    """Send a picture with some fields."""
    parts = [(name, value.encode(), None) for name, value in fields.items()]
    return maker.form("POST", path, *parts, ("data", content, file_name))


@pytest.mark.parametrize("kind", GOOD)
def test_good_picture_is_kept(maker, album, model_id, kind):
    """A picture is recognised by its bytes; extension, mode, depth and turn do not matter."""
    path, content = f"/v2/vision/datasets/{album}/examples", GOOD[kind]()

    added = send(maker, path, content, f"{kind}.gif.exe", label=kind).ok()
    fed = send(
        maker,
        "/v2/vision/feedback",
        content,
        f"fed {kind}.txt",
        modelId=model_id,
        expectedLabel=kind,
    ).ok()

    assert (added["name"], fed["name"]) == (f"{kind}.gif.exe", f"fed {kind}.txt")
    assert added["label"]["id"] == fed["label"]["id"]


@pytest.mark.parametrize("kind", BAD)
def test_bad_picture_is_refused(maker, album, model_id, kind):
    """A picture that cannot be used is refused with its reason, quickly, and leaves nothing."""
    make, status, words = BAD[kind]
    content, path = make(), f"/v2/vision/datasets/{album}/examples"
    before = maker.get(f"/v2/vision/datasets/{album}").ok()

    send(maker, path, content, "picture.jpg", label="odd").refused(status, *words)
    send(
        maker,
        "/v2/vision/feedback",
        content,
        "picture.png",
        modelId=model_id,
        expectedLabel="odd",
    ).refused(status, *words)

    assert maker.get(f"/v2/vision/datasets/{album}").ok() == before


@pytest.mark.parametrize(
    ("fields", "status", "word"),
    [
        ({}, 400, "labelId"),
        ({"label": " "}, 400, "labelId"),
        ({"label": "l" * 181}, 400, "180"),
        ({"label": "a\x00b"}, 400, "control"),
        ({"labelId": "x"}, 400, "labelId"),
        ({"labelId": "1"}, 404, "label 1"),
        ({"label": "odd", "name": "a\nb"}, 400, "control"),
    ],
)
def test_fields_of_a_picture(maker, album, fields, status, word):
    """What is wrong with a field is named."""
    path = f"/v2/vision/datasets/{album}/examples"

    send(maker, path, PNG, "a.png", **fields).refused(status, word)


@pytest.mark.parametrize(
    "name", ["ü 🙂 שלום.png", "../../etc/passwd", "a\"b';<script>.png", "x" * 10_000, "%2e%2e/"]
)
def test_names_are_kept_and_cut(maker, album, name):
    """Any visible name is kept as it was sent, up to 150 characters; its URL can be made."""
    path = f"/v2/vision/datasets/{album}/examples"
    content = PNG + name[:20].encode()

    added = send(maker, path, content, "a.png", label="names", name=name).ok()

    assert added["name"] == name[:150]
    assert added["location"].isascii()


@pytest.mark.parametrize("part", [None, b""])
def test_missing_file(maker, album, model_id, part):
    """Without a file, or with an empty one, the refusal names the field."""
    parts = [] if part is None else [("data", part, "a.png")]
    paths = {
        f"/v2/vision/datasets/{album}/examples": [("label", b"odd", None)],
        "/v2/vision/feedback": [
            ("modelId", model_id.encode(), None),
            ("expectedLabel", b"odd", None),
        ],
    }
    for path, fields in paths.items():
        maker.form("POST", path, *fields, *parts).refused(400, "data", "multipart/form-data")


def test_file_sent_twice(maker, album):
    """Two files in one call are refused."""
    path = f"/v2/vision/datasets/{album}/examples"
    twice = [("data", PNG, "a.png"), ("data", JPEG, "b.jpg")]

    maker.form("POST", path, ("label", b"odd", None), *twice).refused(400, "duplicated")
