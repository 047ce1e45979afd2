"""Images from bytes to RGB as displayed."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageDraw, ImageFile, ImageOps
from presage._pixels import flatten

from chalicelib.errors import BadRequest, ServiceError, TooLarge, UnsupportedType
from chalicelib.formats.pictures.reading import check_picture, picture_facts, read_picture
from chalicelib.formats.pictures.rules import PictureFacts
from tests.formats.drawn import (
    ENOUGH,
    SIDE,
    chunk,
    encoded,
    jpeg_header,
    noise,
    png,
    scene,
    turned,
    zeros,
)
from tests.full_size import size

_MOST_BYTES = 300_000_000
"""A picture, however hostile, takes at most so much memory above the idle process."""
_ROWS = size(SIDE // 8, SIDE)
"""Of the pictures whose cost grows with their rows."""
_WIDE = (size(8_750, 70_000), 700)
"""Width and height of a picture that is nearly all width."""
_OF_ROWS = ("rgba.check", "rgba.small", "rgba.whole", "wide.small", "woven.small", "scans.check")
_MEASURE = """
import json, sys, time
from pathlib import Path
from chalicelib.errors import ServiceError
from chalicelib.formats.pictures import jpeg_pixels, png_pixels, reading

def kilobytes(key):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1])

CALLS = {
    "check": lambda data: str(reading.check_picture(data, 1 << 30)),
    "small": lambda data: reading.read_picture(data, 1 << 30, 320).pixels.shape,
    "whole": lambda data: reading.read_picture(data, 1 << 30).pixels.shape,
}
found = {}
for name in sys.argv[1:]:
    data = Path(name).read_bytes()
    Path("/proc/self/clear_refs").write_text("5")
    before, started = kilobytes("VmRSS"), time.process_time()
    try:
        answer = CALLS[Path(name).suffix[1:]](data)
    except ServiceError as error:
        answer = error.code
    found[Path(name).name] = [kilobytes("VmHWM") - before, time.process_time() - started, answer]
print(json.dumps(found))
"""


def _displayed(data: bytes) -> np.ndarray:
    """Decode with Pillow as a viewer would."""
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_read_when_turned(kind: str, orientation: int) -> None:
    """All eight orientations are applied, and the size is the displayed one."""
    data = turned(noise(61, 83), kind, orientation)
    expected = _displayed(data)

    picture, facts = read_picture(data, ENOUGH), check_picture(data, ENOUGH)

    assert np.array_equal(picture.pixels, expected)
    assert picture.pixels.flags.c_contiguous
    assert (picture.height, picture.width) == expected.shape[:2] == (facts.height, facts.width)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 7])
def test_read_when_turned_and_reduced(kind: str, orientation: int) -> None:
    """A reduced image is rotated too and reports its full size."""
    data = turned(scene(900, 600), kind, orientation)
    expected = Image.fromarray(_displayed(data))

    picture = read_picture(data, ENOUGH, least_side=150)

    assert (picture.width, picture.height) == expected.size
    height, width, _ = picture.pixels.shape
    assert (width, height) == (expected.width // 4, expected.height // 4)
    difference = np.abs(picture.pixels - np.asarray(expected.reduce(4)).astype(int))
    assert difference.max() <= 4


@pytest.mark.parametrize("exif", [b"Exif\0\0", b"Exif\0\0MM\0*\xff\xff\xff\xff", b"rubbish" * 40])
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_read_when_exif_is_broken(kind: str, exif: bytes) -> None:
    """Broken EXIF is ignored, without a warning."""
    data = encoded(scene(), kind, exif=exif)

    assert check_picture(data, ENOUGH) == PictureFacts(kind.lower(), 64, 48)
    assert picture_facts(data, ENOUGH) == PictureFacts(kind.lower(), 64, 48)
    assert read_picture(data, ENOUGH).pixels.shape == (48, 64, 3)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "LA"])
def test_read_when_a_png_of_any_mode(mode: str) -> None:
    """PNGs of every mode that Pillow writes are read as Pillow shows them on white."""
    image = noise(50, 40, mode) if mode != "P" else scene(50, 40).quantize(60)
    white = Image.new("RGBA", image.size, "white")
    expected = np.asarray(Image.alpha_composite(white, image.convert("RGBA")).convert("RGB"))

    pixels = read_picture(encoded(image, "PNG"), ENOUGH).pixels

    assert pixels.dtype == np.uint8
    assert np.abs(pixels - expected.astype(int)).max() <= 1


@pytest.mark.parametrize("colour", [(255, 255, 255), (250, 240, 200), (0, 0, 0), (200, 30, 30)])
@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_parts_contrast_as_in_the_client(mode: str, colour: tuple[int, ...]) -> None:
    """Light content is put on black and dark content on white, as in the client."""
    image = Image.new("RGBA", (900, 700), (0, 0, 0, 0))
    ImageDraw.Draw(image).text((90, 300), "Light or dark", (*colour, 255), font_size=60)
    converted = image.convert(mode) if mode != "P" else image.quantize(9)

    file = encoded(converted, "PNG")
    pixels = read_picture(file, ENOUGH, contrasts=True).pixels

    shown = np.asarray(flatten(Image.open(io.BytesIO(file))))
    assert np.abs(pixels - shown.astype(int)).max() <= 1
    assert tuple(pixels[0, 0]) == ((0, 0, 0) if min(colour) > 191 else (255, 255, 255))
    # Other tasks than reading documents see the image as before.
    assert tuple(read_picture(file, ENOUGH).pixels[0, 0]) == (255, 255, 255)


def test_opaque_light_pictures_stay_as_they_are() -> None:
    """An alpha channel that is fully opaque changes no background."""
    image = Image.new("RGBA", (64, 48), (255, 255, 255, 255))
    assert read_picture(encoded(image, "PNG"), ENOUGH, contrasts=True).pixels.min() == 255


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_read_when_a_palette_is_transparent(bits: int) -> None:
    """Palettes of any depth are read; their transparent entry is white."""
    image = scene(50, 40).quantize(2**bits)
    data = encoded(image, "PNG", transparency=1, bits=bits)
    clear = np.asarray(image) == 1

    pixels = read_picture(data, ENOUGH).pixels

    assert clear.any()
    assert (pixels[clear] == 255).all()
    assert np.array_equal(pixels[~clear], np.asarray(image.convert("RGB"))[~clear])


@pytest.mark.parametrize(("mode", "colour"), [("L", 90), ("RGB", (90, 20, 30))])
def test_read_when_one_colour_is_transparent(mode: str, colour: int | tuple[int, ...]) -> None:
    """Grey and colour PNGs may name one transparent colour; it becomes white."""
    image = Image.new(mode, (4, 4), colour)
    image.putpixel((2, 1), 7 if mode == "L" else (7, 7, 7))

    pixels = read_picture(encoded(image, "PNG", transparency=colour), ENOUGH).pixels

    assert pixels[1, 2].tolist() == [7, 7, 7]
    assert pixels[0, 0].tolist() == [255, 255, 255]


def test_read_when_grey_of_16_bits() -> None:
    """Grey of 16 bits is divided by 257; darker and brighter parts stay apart."""
    values = np.arange(65_536, dtype=np.uint16).reshape(256, 256)

    pixels = read_picture(encoded(Image.fromarray(values), "PNG"), ENOUGH).pixels

    assert np.array_equal(pixels[:, :, 0], np.round(values / 257))


def test_read_when_colours_of_16_bits() -> None:
    """Colours of 16 bits are divided by 257 too."""
    values = np.random.default_rng(0).integers(0, 65_536, (30, 20, 3), dtype=np.uint16)
    rows = values.astype(">u2").view(np.uint8).reshape(30, -1)
    data = png((20, 30), 16, 2, zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows)))

    assert np.array_equal(read_picture(data, ENOUGH).pixels, np.round(values / 257))


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
def test_read_when_a_jpeg_of_any_mode(mode: str, progressive: bool) -> None:
    """Grey, colour and Adobe's inverted CMYK, baseline and progressive, keep their colours."""
    image = scene(80, 60)
    expected = np.asarray(image.convert(mode).convert("RGB")).astype(int)
    data = encoded(image.convert(mode), "JPEG", quality=95, progressive=progressive)

    pixels = read_picture(data, ENOUGH).pixels

    assert check_picture(data, ENOUGH) == PictureFacts("jpeg", 80, 60)
    assert np.abs(pixels - expected).mean() < 3


def test_read_when_cmyk_is_stored_as_ycck() -> None:
    """YCCK, as photo editors write it, comes out in the colours of the CMYK it was made of."""
    cyan, magenta, yellow, black = scene(80, 60, "CMYK").split()
    luma = Image.merge("RGB", (cyan, magenta, yellow)).convert("YCbCr").split()
    stored = Image.merge("CMYK", [*map(ImageChops.invert, luma), black])
    plain = encoded(stored, "JPEG", quality=95, subsampling=0)
    transform = plain.index(b"Adobe") + 11
    assert plain[transform] == 0
    data = plain[:transform] + b"\2" + plain[transform + 1 :]

    pixels = read_picture(data, ENOUGH).pixels

    assert np.abs(pixels - np.asarray(scene(80, 60)).astype(int)).mean() < 3


def test_read_when_a_profile_is_attached() -> None:
    """Colour profiles are ignored."""
    for kind in ("PNG", "JPEG"):
        with_profile = encoded(scene(), kind, icc_profile=b"nonsense" * 1000)
        plain = encoded(scene(), kind)
        assert np.array_equal(
            read_picture(with_profile, ENOUGH).pixels, read_picture(plain, ENOUGH).pixels
        )


def test_read_when_animated() -> None:
    """The first frame of an animated PNG is read."""
    frames = [scene(), scene().transpose(Image.Transpose.ROTATE_180)]
    data = encoded(frames[0], "PNG", save_all=True, append_images=frames[1:])

    assert b"acTL" in data
    assert np.array_equal(read_picture(data, ENOUGH).pixels, np.asarray(frames[0]))


def test_read_when_a_phone_stores_several_pictures() -> None:
    """The first image of a multi-picture JPEG is read."""
    data = encoded(scene(), "MPO", save_all=True, append_images=[scene(32, 24, "L")])
    assert Image.open(io.BytesIO(data)).format == "MPO"

    assert check_picture(data, ENOUGH) == PictureFacts("jpeg", 64, 48)
    assert np.array_equal(read_picture(data, ENOUGH).pixels, _displayed(data))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_read_when_bytes_follow(kind: str) -> None:
    """Bytes after the image are ignored."""
    data = encoded(scene(), kind)

    assert check_picture(data + b"trailing" * 100, ENOUGH).width == 64
    assert read_picture(data + b"trailing" * 100, ENOUGH).width == 64


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("size", [(1, 1), (1, 100), (100, 1)])
def test_read_when_tiny(kind: str, size: tuple[int, int]) -> None:
    """An image of one pixel, and a line of a hundred, are read."""
    data = encoded(scene(*size), kind)

    assert check_picture(data, ENOUGH) == PictureFacts(kind.lower(), *size)
    for least_side in (None, 1, 320):
        assert read_picture(data, ENOUGH, least_side).pixels.shape == (size[1], size[0], 3)


@pytest.mark.parametrize("call", [check_picture, read_picture])
@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (b"", BadRequest, "0 bytes"),
        (bytes(ENOUGH + 1), TooLarge, "5242881 bytes; at most 5242880 (5 MB)"),
        (encoded(scene(), "GIF"), UnsupportedType, "a GIF image; PNG and JPEG"),
        (encoded(scene(), "WEBP"), UnsupportedType, "a WebP image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", UnsupportedType, "an SVG image"),
        (b"<!doctype html><title>404</title>", UnsupportedType, "an HTML page"),
        (encoded(scene(101, 1), "JPEG"), BadRequest, "at most 100 times"),
        (encoded(scene(1, 101), "PNG"), BadRequest, "at most 100 times"),
        (encoded(scene(), "JPEG")[:-2], BadRequest, "truncated"),
        (encoded(scene(), "PNG")[:-1], BadRequest, "truncated"),
        (jpeg_header(65_535, 65_535), BadRequest, "4294836225 pixels"),
    ],
)
def test_refusals_when_checked_or_read(
    call: object, data: bytes, error: type[ServiceError], said: str
) -> None:
    """Checking and reading refuse the same files with the same errors."""
    with pytest.raises(error) as caught:
        call(data, ENOUGH)

    assert said in caught.value.message


@settings(max_examples=size(60, 150), deadline=None)
@given(st.binary(max_size=300), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"]))
def test_read_when_random(rest: bytes, start: bytes) -> None:
    """Random bytes raise only the service's errors."""
    for call in (check_picture, read_picture):
        with pytest.raises(ServiceError):
            call(start + rest, ENOUGH)


_SOURCES = [
    encoded(noise(40, 30), "PNG"),
    encoded(scene(40, 30, "RGBA"), "PNG"),
    encoded(scene(40, 30).quantize(9), "PNG", transparency=1),
    encoded(noise(40, 30), "JPEG"),
    encoded(noise(40, 30), "JPEG", progressive=True),
    turned(scene(40, 30), "JPEG", 6),
    encoded(scene(40, 30, "CMYK"), "JPEG"),
]


@settings(max_examples=size(60, 150), deadline=None)
@given(st.sampled_from(_SOURCES), st.floats(0, 1, exclude_max=True))
def test_read_when_cut(source: bytes, share: float) -> None:
    """A picture cut anywhere is refused by checking and by reading."""
    cut = source[: int(len(source) * share)]

    for call in (check_picture, read_picture):
        with pytest.raises(ServiceError):
            call(cut, ENOUGH)


@settings(max_examples=size(100, 300), deadline=None)
@given(
    st.sampled_from(_SOURCES),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=8),
    st.sampled_from([None, 1, 8]),
)
def test_read_when_bytes_are_wrong(
    source: bytes, changes: list[tuple[float, int]], least_side: int | None
) -> None:
    """An image with wrong bytes is read or refused."""
    data = bytearray(source)
    for place, value in changes:
        data[int(len(data) * place)] = value
    for call in (
        lambda: check_picture(bytes(data), ENOUGH),
        lambda: read_picture(bytes(data), ENOUGH, least_side),
    ):
        try:
            call()
        except ServiceError as error:
            assert error.status in (400, 415)  # noqa: PT017


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_facts_when_turned(kind: str) -> None:
    """The displayed size is read from the header without decoding."""
    data = turned(scene(64, 48), kind, 6)
    assert picture_facts(data, ENOUGH) == PictureFacts(kind.lower(), 48, 64, 6)
    with pytest.raises(UnsupportedType):
        picture_facts(b"GIF89a" + bytes(20), ENOUGH)


def test_read_when_many_threads_read() -> None:
    """Threads that read valid and invalid images simultaneously do not affect each other."""
    cases = [(source, _displayed(source)) for source in _SOURCES[3:]] * 20

    def read(case: tuple[bytes, np.ndarray]) -> bool:
        """Read one picture after one that is refused."""
        with pytest.raises(BadRequest):
            check_picture(case[0][:-9], ENOUGH)
        return np.array_equal(read_picture(case[0], ENOUGH).pixels, case[1])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, cases))
    assert ImageFile.LOAD_TRUNCATED_IMAGES is False


def test_import_when_nothing_is_read_yet() -> None:
    """Importing the reader loads neither numpy nor Pillow."""
    code = (
        "import sys, chalicelib.formats.pictures.reading;"
        "print({'numpy', 'PIL'} & sys.modules.keys())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "set()"


def _called_large(jpeg: bytes) -> bytes:
    """Write another size into the header of a progressive JPEG."""
    place = jpeg.index(b"\xff\xc2") + 5
    return jpeg[:place] + SIDE.to_bytes(2, "big") * 2 + jpeg[place + 4 :]


def _hostile() -> dict[str, bytes]:
    """Return small files that are, or claim to be, large to decode, by name."""
    flat = Image.new("RGB", (SIDE, SIDE), (9, 90, 200))
    progressive = encoded(flat, "JPEG", progressive=True)
    bomb = zeros(1 << 28)
    texts = [chunk(b"zTXt", b"a\0\0" + bomb), chunk(b"iTXt", b"a\0\1\0\0\0" + bomb)]
    texts.append(chunk(b"iCCP", b"a\0\0" + bomb))
    rgba = png((SIDE, _ROWS), 8, 6, zeros(_ROWS * (SIDE * 4 + 1)))
    low = encoded(flat.crop((0, 0, SIDE, _ROWS)), "JPEG", progressive=True)
    scan = low[low.rindex(b"\xff\xc4") : -2]
    return {
        "rgba.check": rgba,
        "rgba.small": rgba,
        "rgba.whole": rgba,
        "wide.small": png(_WIDE, 16, 6, zeros(_WIDE[1] * (_WIDE[0] * 8 + 1))),
        "woven.small": png((SIDE, _ROWS), 8, 6, zeros(_ROWS * (SIDE * 4 + 9)), interlace=1),
        "texts.whole": png((9, 9), 8, 2, zeros(9 * 28), *texts),
        "excess.whole": png((9, 9), 8, 2, bomb),
        "baseline.whole": encoded(flat, "JPEG"),
        "progressive.whole": progressive,
        "scans.check": low[:-2] + scan * 54 + b"\xff\xd9",
        "near.small": encoded(
            flat.crop((0, 0, 6800, 6800)), "JPEG", subsampling=0, progressive=True
        ),
        "dense.check": _called_large(
            encoded(scene(64, 64), "JPEG", progressive=True, subsampling=0)
        ),
    }


def test_read_when_hostile(tmp_path: Path) -> None:
    """No small file costs more than 300 MB or ten seconds, whether checked, reduced or whole.

    Some have an eighth of their rows, and of both bounds, but at full size.
    """
    for name, data in _hostile().items():
        assert len(data) < ENOUGH
        (tmp_path / name).write_bytes(data)
    files = [str(path) for path in sorted(tmp_path.iterdir())]

    run = subprocess.run(
        [sys.executable, "-c", _MEASURE, *files], capture_output=True, text=True, check=True
    )

    found = json.loads(run.stdout)
    assert len(found) == len(files)
    share = {name: _ROWS / SIDE if name in _OF_ROWS else 1 for name in found}
    assert {n: one for n, one in found.items() if one[0] * 1024 > share[n] * _MOST_BYTES} == {}
    assert {n: one for n, one in found.items() if one[1] > share[n] * 10} == {}
    assert found["rgba.small"][0] < 60_000
    assert found["wide.small"][2] == [350, _WIDE[0] // 2, 3]
    assert found["rgba.whole"][2] == [_ROWS, SIDE, 3]
    assert found["texts.whole"][2] == found["excess.whole"][2] == [9, 9, 3]
    assert found["near.small"][2] == [850, 850, 3]
    assert found["dense.check"][2] == "too_many_pixels"
