"""Reads boxes of CreateML, LabelMe, VoTT, CVAT and TensorFlow's CSV. See beyond.md, section 1."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from chalicelib.domain.datasets.upload_format import CREATE_ML, CVAT, LABEL_ME, TENSORFLOW, VOTT
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
from chalicelib.formats.archives.picture_index import as_path
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipMember
from chalicelib.formats.texts.json_limits import is_too_deep

PLACE = "Box {number} of {part}, {picture}"
_MAX_FILE_BYTES = 64 * 1024 * 1024
_DIGITS = 6
_MAX_SIDE = 100_000
_CVAT_SHAPES = frozenset(
    ("box", "polygon", "polyline", "points", "ellipse", "mask", "cuboid", "skeleton")
)
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_SIDES = ("x", "y", "width", "height")
# Maximum number of lines that are examined to recognise a table without header.
_JUDGED = 1_000
_FILE_NAMES, _LABEL_NAMES = ("filename", "image", "image_path"), ("class", "label", "class_name")
_CREATE_ML_SIGNS = (b'"annotations"', b'"coordinates"')
_LABEL_ME_SIGNS = (b'"imagePath"', b'"shapes"')
_CVAT_SIGNS = (b"<annotations", b"<image ")
_VOTT_SIGNS = (b'"asset"', b'"regions"', b'"tags"')
_TABLE_SIGNS = (b"filename", b"class", *(name.encode() for name in _CORNERS))


class _ToolBox(NamedTuple):
    """A box as a tool wrote it. Its values are not checked, and may be numbers or texts."""

    picture: str
    label: Any
    sides: tuple[Any, Any, Any, Any]
    """Left, top, width and height in pixels."""
    size: tuple[Any, Any] = (0, 0)
    """Width and height of the image; 0 if unknown."""
    rotation: Any = None
    is_guessed: bool = False
    """Whether the last two numbers of `sides` could be the right and bottom edge instead."""


class _WrongFormat(ValueError):
    """A file is damaged, or does not have the format of the tool. The message says why."""


@dataclass(frozen=True)
class BoxTool:
    """A tool whose annotation files can be read."""

    kind: str
    words: str
    """Name of the tool in messages."""
    suffix: str
    signs: tuple[bytes, ...]
    """Byte strings by which even a damaged file of the tool is recognised."""
    rows: Callable[[str], Iterator[_ToolBox]]
    """Yields the boxes in the text of a file; raises _WrongFormat for a file of another kind."""

    def is_in(self, files: BoxFiles) -> bool:
        """Return whether an archive contains an annotation file of this tool."""
        return any(self._fits(files, member) for member in files.members(self.suffix))

    def read(self, files: BoxFiles) -> Annotations:
        """Read all boxes in files of this tool; raise InvalidUpload if a file cannot be read."""
        result = Annotations(PLACE)
        for member in files.members(self.suffix):
            if not self._fits(files, member):
                continue
            part = result.parts
            result.name_parts([shown_name(member)])
            try:
                content = files.read(member, _MAX_FILE_BYTES)
                for number, row in enumerate(self.rows(_text_of(content)), 1):
                    _add(files, result, member, (number, part), row)
            except _WrongFormat as fault:
                raise InvalidUpload(
                    f"{shown_name(member)} is of {self.words} and cannot be read: {fault}. Export "
                    "it again, or send annotations.csv."
                ) from None
            check_limits(shown_name(member), len(result), len(result.book))
        return result

    def _fits(self, files: BoxFiles, member: ZipMember) -> bool:
        try:
            content = files.read(member, _MAX_FILE_BYTES)
            next(self.rows(_text_of(content)), None)
        except MemberProblem:
            return False
        except _WrongFormat:
            # A damaged file of the tool fits, too, so that the error of `read` names the tool.
            return all(sign in content for sign in self.signs)
        return True


def _text_of(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise _WrongFormat(str(problem)) from None


def _add(
    files: BoxFiles, result: Annotations, member: ZipMember, at: tuple[int, int], row: _ToolBox
) -> None:
    folder = member.path.removesuffix(member.name)
    # LabelMe writes a path on the annotator's machine. The image is next to the file here.
    name = as_path(row.picture)
    places = (folder + name, name, folder + name.rpartition("/")[2])
    found = files.pictures.find_first(places)
    try:
        picture = found_image(found)
        label = _label(row.label)
        left, top, width, height = map(_number, row.sides)
        box = checked_sides(
            round(left, _DIGITS), round(top, _DIGITS), round(width, _DIGITS), round(height, _DIGITS)
        )
        result.has_guessed_corners |= row.is_guessed
        result.note_size(picture, *map(_size, row.size))
        result.add(picture, at, label, turned_box(box, row.rotation))
    except CellFault as fault:
        if isinstance(found, int):
            result.note_rejected_box(found)
        files.reject(rejected(PLACE, (at[0], result.part_name(at[1])), row.picture, str(fault)))


def _label(value: Any) -> str:
    if not isinstance(value, str):
        raise CellFault("its label is not a text; write one.")
    return checked_label(value)


def _size(value: Any) -> int:
    # Larger numbers are mistakes of the export, and then the size is not known.
    number = _as_number(value) or 0.0
    return int(number) if 0 < number < _MAX_SIDE else 0


def _number(value: Any) -> float:
    number = _as_number(value)
    if number is None:
        raise CellFault("it is not a box with four numbers; draw a box, and write pixels.")
    return number


def _parse(text: str) -> Any:
    if is_too_deep(text):
        raise _WrongFormat("the JSON is nested too deeply")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _WrongFormat(f"the JSON is not valid: {problem}") from None


def _objects(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _WrongFormat("a list of objects is missing")
    return value


def _members(value: Any, *names: str) -> list[Any]:
    """Return the values of the members `names` of a JSON object; None for a missing member."""
    return [value.get(name) if isinstance(value, dict) else None for name in names]


def _read_create_ml(text: str) -> Iterator[_ToolBox]:
    for item in _objects(_parse(text)):
        name = item.get("image", item.get("imagefilename"))
        if not isinstance(name, str):
            raise _WrongFormat("an item names no 'image'")
        for found in _objects(item.get("annotations", item.get("annotation"))):
            sides = found.get("coordinates")
            if not isinstance(sides, dict):
                raise _WrongFormat("an annotation has no 'coordinates'")
            x, y, width, height = (sides.get(key) for key in ("x", "y", "width", "height"))
            # CreateML writes the centre of a box.
            left, top = (_minus_half(at, side) for at, side in ((x, width), (y, height)))
            yield _ToolBox(name, found.get("label"), (left, top, width, height))


def _minus_half(centre: Any, side: Any) -> Any:
    middle, length = _as_number(centre), _as_number(side)
    return None if middle is None or length is None else middle - length / 2


def _read_label_me(text: str) -> Iterator[_ToolBox]:
    document = _parse(text)
    if not isinstance(document, dict) or not isinstance(document.get("imagePath"), str):
        raise _WrongFormat("it has no 'imagePath'")
    size = document.get("imageWidth") or 0, document.get("imageHeight") or 0
    for shape in _objects(document.get("shapes")):
        points = shape.get("points") or ()
        # Outlines are read by their bounds; circles have other points.
        usable = shape.get("shape_type", "polygon") in ("rectangle", "polygon", "rotation")
        try:
            xs, ys = zip(*((float(x), float(y)) for x, y in points), strict=True)
            sides = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
        except (TypeError, ValueError, OverflowError):
            usable = False
        place = sides if usable else (None, None, None, None)
        yield _ToolBox(document["imagePath"], shape.get("label"), place, size)


def _read_vott(text: str) -> Iterator[_ToolBox]:
    document = _parse(text)
    assets = document.get("assets") if isinstance(document, dict) else None
    items = list(assets.values()) if isinstance(assets, dict) and assets else [document]
    for item in _objects(items):
        asset, regions = item.get("asset"), item.get("regions")
        if not isinstance(asset, dict) or not isinstance(asset.get("name"), str):
            raise _WrongFormat("an item has no 'asset' with a 'name'")
        across, down = _members(asset.get("size"), "width", "height")
        for region in _objects(regions):
            # Outlines have a bounding box too, and a region may have several tags.
            left, top, width, height = _members(
                region.get("boundingBox"), "left", "top", "width", "height"
            )
            tags = region.get("tags") or [None]
            for tag in tags if isinstance(tags, list) else [tags]:
                yield _ToolBox(asset["name"], tag, (left, top, width, height), (across, down))


def _read_cvat(text: str) -> Iterator[_ToolBox]:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root = fromstring(text)
    except (DefusedXmlException, ParseError, ValueError) as problem:
        raise _WrongFormat(f"the XML is not valid: {problem}") from None
    if root.tag != "annotations" or root.find("image") is None:
        raise _WrongFormat("it has no <image> in <annotations>")
    for image in root.iterfind("image"):
        size = image.get("width", "0"), image.get("height", "0")
        for box in image:
            if box.tag not in _CVAT_SHAPES:
                continue
            # Outlines have no corners, so they are rejected and counted.
            left, top, right, bottom = (
                _as_number(box.get(k)) for k in ("xtl", "ytl", "xbr", "ybr")
            )
            yield _ToolBox(
                image.get("name", ""),
                box.get("label"),
                _from_corners(left, top, right, bottom),
                size,
                box.get("rotation"),
            )


def _read_table(text: str) -> Iterator[_ToolBox]:
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    cells_of = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        # Tables of RetinaNet have no header, and empty cells for an image without boxes.
        is_headless = _is_headless([line for line in islice(cells_of, _JUDGED) if any(line[1:])])
        if is_headless:
            rows.fieldnames = (_FILE_NAMES[0], *_CORNERS, _LABEL_NAMES[0])
        names = {name.strip().casefold(): name for name in rows.fieldnames or () if name}
        file, label = (
            next(filter(names.__contains__, known), "") for known in (_FILE_NAMES, _LABEL_NAMES)
        )
        columns = _CORNERS if set(_CORNERS) <= set(names) else _SIDES
        # Elsewhere, width and height are those of the image, and x and y a point.
        is_box = columns == _CORNERS or f",{','.join(_SIDES)}," in f",{','.join(names)},"
        if not file or not label or not is_box:
            raise _WrongFormat(
                f"it does not have the columns filename, class, {', '.join(_CORNERS)}"
            )
        for row in rows:
            cells = {key: row.get(name) for key, name in names.items()}
            if not any(cells[key] for key in (label, *columns)):
                continue
            left, top, right, bottom = (_as_number(cells[key]) for key in columns)
            if columns == _SIDES:
                yield _ToolBox(cells[file] or "", cells[label], (left, top, right, bottom))
                continue
            sides = _from_corners(left, top, right, bottom)
            if is_headless and None not in sides and min(sides[2:]) <= 0:
                raise _WrongFormat(
                    f"line {rows.line_num} does not have xmin, ymin, xmax, ymax. If these are x, "
                    "y, width and height, begin the file with a row of these names between "
                    "filename and class"
                )
            size = cells.get("width") or 0, cells.get("height") or 0
            yield _ToolBox(cells[file] or "", cells[label], sides, size, is_guessed=is_headless)
    except csv.Error as problem:
        raise _WrongFormat(f"line {rows.line_num}: {problem}") from None


def _is_headless(lines: list[list[str]]) -> bool:
    """Return whether the first line of a table is data: a file name, four numbers and a class."""
    kinds = [_as_number(cell) is None for cell in lines[0]] if lines else []
    if len(kinds) != len(_CORNERS) + 2 or kinds[:-1] != [True, *(False for _ in _CORNERS)]:
        return False
    # A class that is a number repeats more than the numbers of boxes do.
    whole = (line for line in lines if len(line) == len(kinds))
    *numbers, classes = ({*column} for column in zip(*whole, strict=True))
    are_whole = all(name.strip().isdecimal() for name in classes)
    return kinds[-1] or (are_whole and len(classes) < min(map(len, numbers[1:])))


def is_box_table(text: str) -> bool:
    """Return whether a table has one column per side of a box. `text` is its first lines."""
    try:
        next(_read_table(text), None)
    except _WrongFormat:
        return False
    return True


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _from_corners(
    left: float | None, top: float | None, right: float | None, bottom: float | None
) -> tuple[Any, Any, Any, Any]:
    if left is None or top is None or right is None or bottom is None:
        return (None, None, None, None)
    return left, top, right - left, bottom - top


BOX_TOOLS = (
    BoxTool(CREATE_ML, "CreateML's *.json", ".json", _CREATE_ML_SIGNS, _read_create_ml),
    BoxTool(LABEL_ME, "LabelMe's *.json", ".json", _LABEL_ME_SIGNS, _read_label_me),
    BoxTool(VOTT, "VoTT's *.json", ".json", _VOTT_SIGNS, _read_vott),
    BoxTool(CVAT, "CVAT's annotations.xml for images", ".xml", _CVAT_SIGNS, _read_cvat),
    BoxTool(TENSORFLOW, "TensorFlow's _annotations.csv", ".csv", _TABLE_SIGNS, _read_table),
)
