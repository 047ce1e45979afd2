"""Reads YOLO annotations: one text file per image, and class names. See beyond.md, section 1.

A line is `class x y width height`: centre and size of a box as fractions of the image. A line can
also be a class and the corners of a polygon. Then the box around the polygon is used. Fractions are
converted to pixels when the size of the image is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.annotations import Annotations, check_limits, rejected
from chalicelib.formats.archives.box_cells import CellFault, checked_label, found_image
from chalicelib.formats.archives.box_files import (
    CLASS_LISTS,
    BoxFiles,
    is_label_text,
    shown_name,
    suffix_of,
    swapped_folder,
    without_suffix,
)
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipMember

PLACE = "Line {number} of {part}"
_BOX_NUMBERS = 4
# Tools round, so a box can exceed its image by this much.
_LARGEST_SHARE = 1.001
_MAX_CLASS_LIST_BYTES = 1024 * 1024
_REMEDY = "Write the class, then x, y, width and height as shares of the image, between 0 and 1."


class ClassList:
    """The class names by class number, and the class numbers that boxes have used."""

    def __init__(self, file_name: str, names: dict[int, str], *, has_keypoints: bool) -> None:
        self.file_name = file_name
        self.names = names
        self.has_keypoints = has_keypoints
        self._used: set[int] = set()

    def label_of(self, class_number: str) -> str:
        """Return the label of a class number; raise CellFault if the list has no such class."""
        number = int(class_number) if class_number.isdecimal() and len(class_number) < 7 else -1
        self._used.add(number)
        if number not in self.names:
            raise CellFault(
                f"the class {class_number[:20]!r} is unknown: {self.file_name} names "
                f"{len(self.names):,} classes, from 0 to {max(self.names)}."
            )
        return checked_label(self.names[number])

    def check_first(self) -> None:
        """Raise an error if class numbers seem to start at 1, which would shift all labels.

        Raises:
            InvalidUpload: the highest used number is one above the last class, and 0 is not used.
        """
        last = max(self.names)
        if min(self.names) == 0 and last + 1 == max(self._used, default=0) and 0 not in self._used:
            raise InvalidUpload(
                f"The class numbers go up to {last + 1} and none is 0, and {self.file_name} names "
                f"classes from 0 to {last}: the numbers seem to count from 1. Subtract 1 from "
                "each, or name the class that is missing."
            )


def has_label_texts(files: BoxFiles) -> bool:
    """Return whether an archive has text files that seem to belong to images, by folder or name."""
    if files.signs.label_texts:
        return True
    if not files.signs.class_lists:
        return False
    return any(isinstance(_picture_of(files, text), int) for text in _texts(files))


def read_yolo(files: BoxFiles) -> Annotations:
    """Read the boxes of all images, as fractions of the image size.

    Raises:
        InvalidUpload: class names are missing, or there are too many boxes or labels.
    """
    classes = read_classes(files)
    result = Annotations(PLACE, in_fractions=True)
    claimed: dict[int, str] = {}
    for member in _texts(files):
        picture = _picture_of(files, member)
        if isinstance(picture, str) and not is_label_text(member):
            continue
        try:
            text = files.read(member).decode("utf-8-sig", "replace")
        except MemberProblem as problem:
            files.reject(RejectedItem(str(problem), file=shown_name(member)))
            continue
        if isinstance(picture, int) and claimed.setdefault(picture, member.path) != member.path:
            picture = f"its image has boxes from {claimed[picture]} already; keep one of them."
        _read_lines(files, result, member, text, (classes, picture))
        check_limits("The archive", len(result), len(result.book))
    classes.check_first()
    return result


def read_classes(files: BoxFiles) -> ClassList:
    """Read the list of classes.

    Raises:
        InvalidUpload: the list is missing or unreadable, or the archive has different lists.
    """
    lists = sorted(files.signs.class_lists, key=lambda one: CLASS_LISTS.index(one.name))
    found = [_read_class_list(files, member) for member in lists] or list(_other_lists(files))
    if not found:
        raise InvalidUpload(
            "The archive has YOLO's labels, and no list of their classes. Add data.yaml with "
            "'names', or classes.txt with a class a line."
        )
    for other in found[1:]:
        if other.names != found[0].names:
            raise InvalidUpload(
                f"{found[0].file_name} and {other.file_name} name different classes. Leave one "
                "of them out."
            )
    return found[0]


def _other_lists(files: BoxFiles) -> Iterator[ClassList]:
    # Ultralytics names class lists after the dataset, such as coco8.yaml.
    for member in files.signs.other_lists:
        with suppress(InvalidUpload):
            yield _read_class_list(files, member)


def _texts(files: BoxFiles) -> Iterator[ZipMember]:
    return (one for one in files.members(".txt") if one.name not in CLASS_LISTS)


def _picture_of(files: BoxFiles, member: ZipMember) -> int | str:
    """Find the image to which a text file of boxes belongs; return its index, or an error text."""
    path = without_suffix(member.path)
    return files.stems.find_first((swapped_folder(path, "labels", "images"), path))


def _read_class_list(files: BoxFiles, member: ZipMember) -> ClassList:
    name = shown_name(member)
    files.check()
    try:
        text = files.read(member, _MAX_CLASS_LIST_BYTES).decode("utf-8-sig")
    except (MemberProblem, UnicodeDecodeError) as problem:
        raise InvalidUpload(f"{name} cannot be read: {problem}") from None
    if suffix_of(member) in (".txt", ".names"):
        lines = [line.strip() for line in text.splitlines()]
        names = {at: line for at, line in enumerate(lines) if line}
        has_keypoints = False
    else:
        names, has_keypoints = _parse_yaml(text, name)
    if not names:
        raise InvalidUpload(f"{name} names no class. Write the names of the classes into it.")
    return ClassList(name, names, has_keypoints=has_keypoints)


def _parse_yaml(text: str, name: str) -> tuple[dict[int, str], bool]:
    """Return the class names in a YAML file by number, and whether boxes have key points."""
    # Imported late because no other upload needs it.
    import yaml

    refusal = InvalidUpload(
        f"{name} cannot be read: its 'names' is neither a list of texts nor a mapping of class "
        "numbers to texts. Write names: [cat, dog]."
    )
    try:
        # BaseLoader returns text only: a class `no` stays text, and no alias or object is expanded.
        content = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - makes nothing but texts
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise InvalidUpload(f"{name} is not valid YAML: {str(problem)[:200]}") from None
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, list):
        names = {str(at): each for at, each in enumerate(names)}
    if not isinstance(names, dict):
        raise refusal
    result = {
        int(number): each
        for number, each in names.items()
        if isinstance(number, str) and number.isdecimal() and isinstance(each, str)
    }
    if len(result) < len(names):
        raise refusal
    _check_count(content.get("nc"), len(result), name)
    return result, "kpt_shape" in content


def _check_count(value: object, count: int, name: str) -> None:
    if isinstance(value, str) and value.isdecimal() and value != str(count):
        raise InvalidUpload(
            f"{name} says nc: {value[:20]} and names {count:,} classes. Correct one of them."
        )


def _read_lines(
    files: BoxFiles,
    result: Annotations,
    member: ZipMember,
    text: str,
    meaning: tuple[ClassList, int | str],
) -> None:
    """Add the boxes of a text file to the result.

    `meaning` is the class list, and the index of the image or the reason why it was not found.
    """
    classes, picture = meaning
    part = result.parts
    result.name_parts([shown_name(member)])
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            index = found_image(picture)
            numbers = words[1:]
            if not classes.has_keypoints and _has_confidence(numbers):
                numbers = numbers[:_BOX_NUMBERS]
                result.cut_lines.add(f"{shown_name(member)}: line {number}")
            box = _read_box(numbers, has_keypoints=classes.has_keypoints)
            result.add(index, (number, part), classes.label_of(words[0]), box)
        except CellFault as fault:
            if isinstance(picture, int):
                result.note_rejected_box(picture)
            at = (number, result.part_name(part))
            files.reject(rejected(PLACE, at, member.path, str(fault)))


def _has_confidence(words: list[str]) -> bool:
    """Return whether a line has a box, a confidence and possibly a track number.

    `words` are the numbers after the class. Five numbers are a box and a confidence. Six numbers
    are a box, a confidence and a track number if the last number is an integer. Otherwise, they are
    a polygon with three corners.
    """
    if len(words) == _BOX_NUMBERS + 1:
        return True
    return len(words) == _BOX_NUMBERS + 2 and words[-1].isdecimal()


def _read_box(words: list[str], *, has_keypoints: bool) -> Box:
    """Return the box of a line: top left corner, width and height, as fractions."""
    try:
        shares = [float(word) for word in words]
    except ValueError:
        raise CellFault(f"it has a word that is not a number. {_REMEDY}") from None
    if has_keypoints:
        shares = shares[:_BOX_NUMBERS]
    if len(shares) != _BOX_NUMBERS and (len(shares) < 6 or len(shares) % 2):
        raise CellFault(f"it has {len(shares)} numbers after the class. {_REMEDY}")
    bad = next((share for share in shares if not 0 <= share <= _LARGEST_SHARE), None)
    if bad is not None:
        raise CellFault(f"{bad:g} is not a fraction of the image. {_REMEDY}")
    if len(shares) == _BOX_NUMBERS:
        x, y, width, height = shares
        left, top = x - width / 2, y - height / 2
    else:
        left, top = min(shares[::2]), min(shares[1::2])
        width, height = max(shares[::2]) - left, max(shares[1::2]) - top
    if width <= 0 or height <= 0 or not math.isfinite(left + top):
        raise CellFault(f"the box has no size. {_REMEDY}")
    return Box(left, top, width, height)
