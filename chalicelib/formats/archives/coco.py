"""Reads COCO annotations: JSON with images, annotations and categories. See beyond.md, section 1.

Lists are split into elements without parsing. Then each element is parsed, but only the members
that are needed. So polygons and masks, which fill most of a file, take little time.
"""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple, TypeGuard, TypeVar

import msgspec

from chalicelib.domain.common.decoding import prepare
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.annotations import Annotations, check_limits, rejected
from chalicelib.formats.archives.box_cells import (
    CellFault,
    checked_label,
    checked_sides,
    found_image,
    turned_box,
)
from chalicelib.formats.archives.box_files import BoxFiles, shown_name
from chalicelib.formats.archives.picture_index import split_words
from chalicelib.formats.archives.zip_archive import ZipMember

PLACE = "Annotation {number} of {part}, {picture}"
_CHECK_ANNOTATIONS = 1_000
# No accepted image has a longer side; larger numbers are mistakes of the export.
_MAX_SIDE = 100_000
# Maximum number of objects: an image, an annotation and a category for each of 1,000,000 boxes.
_MAX_OBJECTS = 3_000_000
_MAX_OBJECT_BYTES = 2_000_000
_COUNTED_BYTES = 1 << 20
_Kind = TypeVar("_Kind", bound=msgspec.Struct)
_Buffer = mmap.mmap | bytes


class _Document(msgspec.Struct):
    """A COCO document with lists that are not parsed yet."""

    images: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    annotations: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    categories: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Image(msgspec.Struct):
    """An element of `images`, with only the members that this module uses."""

    id: Any = None
    file_name: Any = None
    width: Any = None
    height: Any = None


class _Category(msgspec.Struct):
    """A category, with only the members that this module uses."""

    id: Any = None
    name: Any = None


class _Annotation(msgspec.Struct):
    """An annotation, with only the members that this module uses."""

    image_id: Any = None
    category_id: Any = None
    bbox: Any = None
    iscrowd: Any = None
    attributes: Any = None


class _Picture(NamedTuple):
    """An image that a COCO document lists, and its file in the archive if one was found."""

    file_or_reason: int | str
    """Index of the file in the archive, or the reason why it was not found."""
    name: str
    """Name as written in the document."""


class _Member(msgspec.Struct, gc=False):
    """Any JSON object. Parsing as `list[_Member]` checks that all elements are objects."""


_DOCUMENT = msgspec.json.Decoder(_Document)
_MEMBERS = msgspec.json.Decoder(list[_Member])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def find_documents(files: BoxFiles) -> list[ZipMember]:
    """Find the COCO documents of an archive by name, or by content if no name fits.

    Raises:
        InvalidUpload: a document cannot be unpacked.
    """
    named = files.signs.instances
    return named or [each for each in files.signs.documents if _has_boxes(files.map_file(each))]


def read_coco(files: BoxFiles) -> Annotations:
    """Read the boxes of all documents of an archive.

    Raises:
        InvalidUpload: a document as a whole cannot be read, or has too many boxes or labels.
    """
    result, claimed = Annotations(PLACE), dict[int, str]()
    for number, member in enumerate(find_documents(files)):
        result.name_parts([shown_name(member)])
        _CocoReader(files, member, number, result, claimed).read()
    return result


def _has_boxes(content: _Buffer) -> bool:
    try:
        found = _DOCUMENT.decode(_without_mark(content))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    lists = (found.images, found.annotations, found.categories)
    return all(not isinstance(each, msgspec.UnsetType) for each in lists)


def _without_mark(content: _Buffer) -> _Buffer | memoryview:
    # Some systems write a byte order mark before UTF-8.
    return memoryview(content)[3:] if content[:3] == b"\xef\xbb\xbf" else content


class _CocoReader:
    """Reads one COCO document."""

    def __init__(
        self,
        files: BoxFiles,
        member: ZipMember,
        number: int,
        result: Annotations,
        claimed: dict[int, str],
    ) -> None:
        self._files = files
        self._name = shown_name(member)
        self._folder = member.path.removesuffix(member.name)
        self._split = split_words(member.path)
        self._member = member
        self._number = number
        self._result = result
        self._claimed = claimed

    def read(self) -> None:
        """Read the document, and add its boxes to the `result` given to the constructor."""
        content = self._files.map_file(self._member)
        # Count first: each object of a few bytes becomes a Python object of hundreds.
        if _count_objects(content) > _MAX_OBJECTS:
            raise self._refusal(f"it has more than {_MAX_OBJECTS:,} objects")
        try:
            document = _DOCUMENT.decode(_without_mark(content))
            pictures = self._pictures(self._list(document.images, "images"))
            labels = self._labels(self._list(document.categories, "categories"))
            annotations = self._list(document.annotations, "annotations")
        except RecursionError:
            raise self._refusal("its values are nested too deeply") from None
        except msgspec.ValidationError as problem:
            raise self._refusal(f"it is not a COCO document: {problem}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise self._refusal(f"it is not valid JSON in UTF-8: {problem}") from None
        check_limits(self._name, len(self._result) + len(annotations), len(labels))
        for at, raw in enumerate(annotations, 1):
            if at % _CHECK_ANNOTATIONS == 0:
                self._files.check()
            self._add(at, raw, labels, pictures)

    def _list(self, raw: msgspec.Raw | msgspec.UnsetType, name: str) -> list[msgspec.Raw]:
        """Check that the list `name` has only JSON objects; return the unparsed objects."""
        if isinstance(raw, msgspec.UnsetType):
            raise self._refusal(f"it has no list '{name}'")
        _MEMBERS.decode(raw)
        return _LIST.decode(raw)

    def _refusal(self, cause: str) -> InvalidUpload:
        return InvalidUpload(
            f"{self._name} cannot be read: {cause}. Export it again as COCO, with images, "
            "annotations and categories."
        )

    def _labels(self, categories: list[msgspec.Raw]) -> dict[str, str]:
        labels: dict[str, str] = {}
        for raw in categories:
            category = _parsed(raw, _Category)
            number = _as_id(category.id)
            name = category.name if isinstance(category.name, str) else ""
            if number is None or labels.setdefault(number, name) != name:
                raise self._refusal(f"two categories have the id {category.id!r}, or it has none")
        return labels

    def _pictures(self, images: list[msgspec.Raw]) -> dict[str, _Picture]:
        pictures: dict[str, _Picture] = {}
        for raw in images:
            image = _parsed(raw, _Image)
            number = _as_id(image.id)
            name = image.file_name if isinstance(image.file_name, str) else ""
            picture = _Picture(self._find(name), name)
            if number is None or pictures.setdefault(number, picture) != picture:
                raise self._refusal(f"two images have the id {image.id!r}, or it has none")
            if isinstance(picture.file_or_reason, int):
                size = _as_side(image.width), _as_side(image.height)
                self._result.note_size(picture.file_or_reason, *size)
        return pictures

    def _find(self, name: str) -> int | str:
        # A file can belong to only one path.
        if not name.strip():
            return "the image has no file_name; write the name of its file."
        found = self._files.pictures.find(name, self._folder, self._split)
        path = self._folder + name
        if isinstance(found, int) and self._claimed.setdefault(found, path) != path:
            return f"the image of this name belongs to {self._claimed[found]}; add this one's."
        return found

    def _add(
        self, at: int, raw: msgspec.Raw, labels: dict[str, str], pictures: dict[str, _Picture]
    ) -> None:
        picture = _Picture("its image_id is that of no image; correct it.", "")
        try:
            found = _parsed(raw, _Annotation)
            picture = pictures.get(_as_id(found.image_id) or "", picture)
            index = found_image(picture.file_or_reason)
            label, box = _read_box(found, labels)
        except (CellFault, msgspec.DecodeError, RecursionError) as fault:
            if isinstance(picture.file_or_reason, int):
                self._result.note_rejected_box(picture.file_or_reason)
            cause = (
                str(fault) if isinstance(fault, CellFault) else "it is not an object with a bbox."
            )
            self._files.reject(rejected(PLACE, (at, self._name), picture.name, cause))
        else:
            self._result.add(index, (at, self._number), label, box)


def _count_objects(content: _Buffer) -> int:
    # An upper bound is enough, so braces in texts count as well.
    parts = range(0, len(content), _COUNTED_BYTES)
    return sum(content[at : at + _COUNTED_BYTES].count(b"{") for at in parts)


def _parsed(raw: msgspec.Raw, kind: type[_Kind]) -> _Kind:
    """Parse a JSON object as a struct of type `kind`; unknown members are ignored."""
    if memoryview(raw).nbytes > _MAX_OBJECT_BYTES:
        raise msgspec.ValidationError(f"an object has more than {_MAX_OBJECT_BYTES:,} bytes")
    prepare(kind)
    return msgspec.json.decode(raw, type=kind)


def _read_box(annotation: _Annotation, labels: dict[str, str]) -> tuple[str, Box]:
    """Return the label and the box of an annotation; raise CellFault if either is invalid."""
    if annotation.iscrowd not in (None, 0, False, "0"):
        raise CellFault("it is a crowd (iscrowd), which is not a single object; draw single boxes.")
    label = labels.get(_as_id(annotation.category_id) or "")
    if label is None:
        raise CellFault("its category_id is that of no category; correct it.")
    sides = annotation.bbox
    if not isinstance(sides, list) or len(sides) != 4 or not all(map(_is_number, sides)):
        raise CellFault("its bbox is not a list of x, y, width and height in pixels; add one.")
    box, attributes = checked_sides(*sides), annotation.attributes
    if isinstance(attributes, dict):
        box = turned_box(box, attributes.get("rotation"))
    return checked_label(label), box


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_id(value: object) -> str | None:
    # As text, so that 7 and "7" are equal.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return str(value).strip() or None
    except ValueError:
        # str() refuses an integer of thousands of digits.
        return None


def _as_side(value: object) -> int:
    return round(value) if _is_number(value) and 0 < value <= _MAX_SIDE else 0
