"""PDFs for tests, written byte by byte: pages of text, of images, turned, locked and hostile.

text_pdf(["First line", "second line"])          one A4 page in Helvetica
pdf([Sheet(words("Hello", 72, 700), rotate=90)])  pages of any content
image_pdf([image], dpi=200)                       pages that are pictures, as a scanner makes them
"""

from __future__ import annotations

import hashlib
import io
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

A4 = (0, 0, 595, 842)
"""Left, bottom, right and top of a page in points."""
_FONTS = (
    b"<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> "
    b"/F2 << /Type /Font /Subtype /Type1 /BaseFont /Times-Bold /Encoding /WinAnsiEncoding >> >>"
)
_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


@dataclass(frozen=True)
class Sheet:
    """One page of a PDF."""

    content: bytes = b""
    """What it shows, in the language of PDF."""
    media: tuple[float, ...] | bytes = A4
    """Its media box."""
    crop: tuple[float, ...] | None = None
    """Its crop box."""
    rotate: int = 0
    """Degrees by which it is turned to the right when it is displayed."""
    objects: bytes = b""
    """More resources, such as `/XObject << /I 9 0 R >>`."""
    extra: bytes = b""
    """More entries of the page, such as `/Annots [9 0 R]`."""


class Writer:
    """Collects objects and writes them with a cross-reference table."""

    def __init__(self, lock: Lock | None = None) -> None:
        self._bodies: list[bytes] = []
        self._lock = lock

    def add(self, body: bytes, stream: bytes | None = None) -> int:
        """Add an object and return its number; `Length` is added to dictionaries of streams."""
        number = len(self._bodies) + 1
        if stream is not None:
            stream = self._lock.cipher(number, stream) if self._lock else stream
            body = b"<< %s /Length %d >>\nstream\n%s\nendstream" % (body, len(stream), stream)
        self._bodies.append(body)
        return number

    def put(self, number: int, body: bytes) -> None:
        """Replace the content of an object."""
        self._bodies[number - 1] = body

    def finish(self, root: int) -> bytes:
        """Return the bytes of the file."""
        trailer = b"/Root %d 0 R" % root
        if self._lock:
            trailer += b" /ID [<00> <00>] /Encrypt %d 0 R" % self.add(self._lock.entry())
        out = bytearray(b"%PDF-1.7\n")
        places = []
        for number, body in enumerate(self._bodies, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        table = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
        for place in places:
            out += b"%010d 00000 n \n" % place
        out += b"trailer\n<< /Size %d %s >>\n" % (len(places) + 1, trailer)
        return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


@dataclass(frozen=True)
class Lock:
    """The standard protection of a PDF with RC4 and keys of 128 bits."""

    user: bytes = b""
    """Password to open it."""
    owner: bytes = b"owner"
    """Password to change it."""

    def entry(self) -> bytes:
        """Return the dictionary that describes the encryption."""
        owner, user = self._owner_mark().hex().encode(), self._user_mark().hex().encode()
        return b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%s> /U <%s> >>" % (
            owner,
            user,
        )

    def cipher(self, number: int, data: bytes) -> bytes:
        """Encrypt the stream of an object."""
        key = hashlib.md5(self._key() + number.to_bytes(3, "little") + b"\0\0").digest()  # noqa: S324
        return _rc4(key, data)

    def _owner_mark(self) -> bytes:
        digest = (self.owner + _PADDING)[:32]
        for _ in range(51):
            digest = hashlib.md5(digest).digest()  # noqa: S324
        return _rc4_rounds(digest, (self.user + _PADDING)[:32])

    def _key(self) -> bytes:
        digest = (self.user + _PADDING)[:32] + self._owner_mark()
        digest += (-4).to_bytes(4, "little", signed=True) + b"\0"
        for _ in range(51):
            digest = hashlib.md5(digest).digest()  # noqa: S324
        return digest

    def _user_mark(self) -> bytes:
        seed = hashlib.md5(_PADDING + b"\0").digest()  # noqa: S324
        return _rc4_rounds(self._key(), seed) + bytes(16)


def _rc4(key: bytes, data: bytes) -> bytes:
    """Encrypt with RC4."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _rc4_rounds(key: bytes, data: bytes) -> bytes:
    """Encrypt twenty times, each time with a different key made from the given one."""
    for turn in range(20):
        data = _rc4(bytes(byte ^ turn for byte in key), data)
    return data


def words(
    text: str, x: float, y: float, size: float = 12, angle: float = 0, font: str = "F1"
) -> bytes:
    """Draw a text at a position in points from the bottom left, turned anticlockwise."""
    coded = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(")
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    matrix = f"{cos:.6f} {sin:.6f} {-sin:.6f} {cos:.6f} {x} {y}"
    head = f"BT /{font} {size} Tf {matrix} Tm ".encode()
    return head + b"(" + coded.replace(b")", b"\\)") + b") Tj ET\n"


def pdf(sheets: Sequence[Sheet], lock: Lock | None = None, root: bytes = b"") -> bytes:
    """Write pages; `root` holds more entries of the catalog.

    Objects of a sheet's own cannot be given here: use `Writer` and `add_sheets` for these.
    """
    writer = Writer(lock)
    return writer.finish(add_sheets(writer, sheets, root))


def add_sheets(writer: Writer, sheets: Sequence[Sheet], root: bytes = b"") -> int:
    """Add pages, their tree and the catalog; returns the catalog's number."""
    tree = writer.add(b"")
    kids = []
    for sheet in sheets:
        content = writer.add(b"", sheet.content)
        kids.append(writer.add(_page(sheet, tree, content)))
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    writer.put(tree, b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), listed))
    return writer.add(b"<< /Type /Catalog /Pages %d 0 R %s >>" % (tree, root))


def _page(sheet: Sheet, tree: int, content: int) -> bytes:
    """Write the dictionary of a page."""
    entries = b"/MediaBox %s" % _box(sheet.media)
    if sheet.crop is not None:
        entries += b" /CropBox %s" % _box(sheet.crop)
    return (
        b"<< /Type /Page /Parent %d 0 R %s /Rotate %d /Contents %d 0 R "
        b"/Resources << /Font %s %s >> %s >>"
        % (tree, entries, sheet.rotate, content, _FONTS, sheet.objects, sheet.extra)
    )


def _box(sides: tuple[float, ...] | bytes) -> bytes:
    """Write a rectangle."""
    return sides if isinstance(sides, bytes) else str(list(sides)).encode().replace(b",", b"")


@dataclass(frozen=True)
class FormField:
    """A field of an interactive form."""

    entries: bytes
    """What its dictionary says: type, name, value."""
    rect: tuple[float, float, float, float]
    """Left, bottom, right and top of its first widget, in points."""
    ticks: tuple[str, ...] = ()
    """Values of its buttons, each a widget below the last; a single one is a tick box."""


def form_pdf(fields: Sequence[FormField], rotate: int = 0, root: bytes = b"") -> bytes:
    """Write a page with a form."""
    writer = Writer()
    widgets: list[int] = []
    tops: list[int] = []
    for field in fields:
        if len(field.ticks) > 1:
            parent = writer.add(b"")
            kids = [_button(writer, field, tick, number, parent)
                    for number, tick in enumerate(field.ticks)]  # fmt: skip
            writer.put(parent, b"<< %s /Kids [%s] >>" % (field.entries, _listed(kids)))
            widgets += kids
            tops.append(parent)
        else:
            look = _looks(writer, field.ticks[0]) if field.ticks else b""
            widgets.append(
                writer.add(
                    b"<< /Type /Annot /Subtype /Widget /F 4 /Rect %s /DA (/Helv 12 Tf 0 g) %s %s >>"
                    % (_box(field.rect), field.entries, look)
                )
            )
            tops.append(widgets[-1])
    sheet = Sheet(words("A form", 72, 770), rotate=rotate, extra=b"/Annots [%s]" % _listed(widgets))
    form = b"/AcroForm << /NeedAppearances true /Fields [%s] /DR << >> >> " % _listed(tops)
    return writer.finish(add_sheets(writer, [sheet], form + root))


def _button(writer: Writer, field: FormField, tick: str, number: int, parent: int) -> int:
    """Add one button of a group."""
    left, bottom, right, top = field.rect
    down = 20 * number
    state = tick if f"/V /{tick}".encode() in field.entries else "Off"
    return writer.add(
        b"<< /Type /Annot /Subtype /Widget /F 4 /Parent %d 0 R /AS /%s /Rect %s %s >>"
        % (
            parent,
            state.encode(),
            _box((left, bottom - down, right, top - down)),
            _looks(writer, tick),
        )
    )


def _looks(writer: Writer, tick: str) -> bytes:
    """Add the appearance of a button when it is ticked and when it is not."""
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 12 12]"
    on, off = writer.add(form, b"1 1 10 10 re f"), writer.add(form, b"")
    return b"/AP << /N << /%s %d 0 R /Off %d 0 R >> >>" % (tick.encode(), on, off)


def _listed(numbers: Sequence[int]) -> bytes:
    """Return references to objects as a PDF array."""
    return b" ".join(b"%d 0 R" % number for number in numbers)


def text_sheet(lines: Sequence[str], size: float = 12, rotate: int = 0) -> Sheet:
    """Create a page of lines that start 72 points from the left, from the top down."""
    step = 1.5 * size
    content = b"".join(
        words(line, 72, 770 - number * step, size) for number, line in enumerate(lines)
    )
    return Sheet(content, rotate=rotate)


def text_pdf(*pages: Sequence[str], lock: Lock | None = None) -> bytes:
    """Write pages of lines of text."""
    return pdf([text_sheet(lines) for lines in pages], lock)


def image_pdf(images: Sequence[Image.Image], dpi: float = 200) -> bytes:
    """Write pages that consist of one image, without text."""
    stream = io.BytesIO()
    first, *rest = images
    first.save(stream, "PDF", save_all=True, append_images=rest, resolution=dpi)
    return stream.getvalue()


def flat_image(writer: Writer, width: int, height: int, packed: bytes | None = None) -> int:
    """Add a grey image that needs few bytes, whatever its size."""
    coded = zlib.compress(bytes(width * height), 9) if packed is None else packed
    entries = b"/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8 "
    entries += b"/Width %d /Height %d /Filter /FlateDecode" % (width, height)
    return writer.add(entries, coded)


def image_sheet(image: int, width: float, height: float, more: bytes = b"") -> Sheet:
    """Create an A4 page with an image of a given size in points at the bottom left."""
    return Sheet(
        b"q %f 0 0 %f 0 0 cm /I Do Q\n%s" % (width, height, more),
        objects=b"/XObject << /I %d 0 R >>" % image,
    )
