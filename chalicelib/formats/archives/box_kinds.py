"""Detects the annotation format of an archive, and reads the boxes. See beyond.md, section 1."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from typing import BinaryIO, NamedTuple, cast

from chalicelib.domain.datasets.upload_format import (
    ANNOTATIONS,
    COCO,
    FORMAT_GUESSED,
    VOC,
    YOLO,
    UploadWarning,
)
from chalicelib.domain.datasets.upload_warnings import warn_of_cut_lines
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives import coco, voc, yolo
from chalicelib.formats.archives.annotations import Annotations, BoxSource
from chalicelib.formats.archives.annotations_csv import (
    ANNOTATIONS_NAME,
    MAX_ANNOTATIONS_BYTES,
    read_annotations,
)
from chalicelib.formats.archives.box_files import BoxFiles, SignsOfBoxes, shown_name
from chalicelib.formats.archives.tools.box_tools import BOX_TOOLS, is_box_table
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipMember
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.texts.encoding import HEAD_BYTES

_SMALL_BYTES = 1 << 20
# Files of tools that are not supported: pattern, name of the tool, and a format to export instead.
_UNREAD = (
    (b"<track ", "CVAT for video", "CVAT for images"),
    (b'"rectanglelabels"', "Label Studio", "COCO or YOLO"),
    (b'"region_attributes"', "VGG Image Annotator", "COCO"),
    (b'"classTitle"', "Supervisely", "COCO"),
    (b'"source-ref"', "SageMaker Ground Truth", "COCO"),
    (b"ImageID,", "Open Images", "COCO"),
    (rb"(?m)^[A-Za-z]\S* [\d.]+ \d(?: -?[\d.]+){12,}\s*$", "KITTI", "COCO"),
)
_UNREAD_SUFFIXES = (".csv", ".manifest", ".jsonl", ".txt")
_WORDS = {
    ANNOTATIONS: ANNOTATIONS_NAME,
    COCO: "COCO's *.json with images, annotations and categories",
    YOLO: "YOLO's labels/*.txt with data.yaml or classes.txt",
    VOC: "Pascal VOC's *.xml",
    **{tool.kind: tool.words for tool in BOX_TOOLS},
}


class FoundBoxes(NamedTuple):
    """The boxes of an archive, their format, and warnings for the receipt of the upload."""

    kind: str
    """One of BOX_KINDS."""
    annotations: Annotations
    """The boxes by image."""
    warnings: list[UploadWarning]
    """Warnings about a guessed format, and about numbers that were not used."""


def find_boxes(files: BoxFiles, expected: str) -> FoundBoxes:
    """Detect the annotation format of an archive, and read all boxes.

    Args:
        files: The files of a detection archive.
        expected: Annotation format that the request names; empty to detect the format.

    Raises:
        InvalidUpload: the archive has no boxes, its format is unclear, or a box file is unusable.
    """
    kind, others = _choose(files, expected)
    found = _READERS[kind](files)
    if kind != YOLO and found.are_fractions():
        raise InvalidUpload(
            f"All boxes of {_WORDS[kind]} lie between 0 and 1: they are shares of the image, "
            "and pixels are needed. Multiply x and width by the width of the image, y and "
            "height by its height."
        )
    warnings = [_warning(kind, others)] if others else []
    return FoundBoxes(kind, found, [*warnings, *warn_of_cut_lines(found.cut_lines)])


def warn_of_unused(signs: SignsOfBoxes) -> list[UploadWarning]:
    """Return a warning if an archive has annotation files, but labels come from folder names."""
    seen = [*signs.tables, *signs.instances, *signs.label_texts, *signs.markup]
    if not seen:
        return []
    message = (
        f"The archive has what looks like boxes: {shown_name(seen[0])}. It was read as folders "
        "that are named by their labels. For boxes use the type image-detection; otherwise leave "
        "the file out, or send format=zipFolders."
    )
    places = tuple(shown_name(member) for member in seen[:20])
    return [UploadWarning(FORMAT_GUESSED, message, len(seen), places)]


def _choose(files: BoxFiles, expected: str) -> tuple[str, list[str]]:
    kinds = _kinds(files, expected)
    if expected and expected not in kinds:
        raise InvalidUpload(f"'format' is {expected}, and the archive has no {_WORDS[expected]}.")
    if expected:
        return expected, []
    if not kinds:
        raise _missing(files)
    if ANNOTATIONS in kinds:
        return ANNOTATIONS, [kind for kind in kinds if kind != ANNOTATIONS]
    if len(kinds) > 1:
        raise InvalidUpload(
            f"The archive can be read in two ways: {' and '.join(_WORDS[kind] for kind in kinds)}. "
            f"Choose one with the field 'format': {' or '.join(kinds)}."
        )
    return kinds[0], []


def _kinds(files: BoxFiles, expected: str) -> list[str]:
    # Formats that the caller ruled out are not tried, because a trial reads files.
    signs = files.signs
    # Other tools also name their table annotations.csv.
    is_foreign = not expected and any(_has_corners(files, member) for member in signs.tables)
    has_table = bool(signs.tables) and not is_foreign
    is_decided = bool(expected or has_table)
    found = {
        ANNOTATIONS: has_table,
        COCO: bool(
            signs.instances if is_decided and expected != COCO else coco.find_documents(files)
        ),
        YOLO: yolo.has_label_texts(files) and bool(signs.class_lists),
        VOC: voc.has_annotations(files),
    }
    kinds = [kind for kind, is_there in found.items() if is_there]
    if not kinds or expected not in ("", *kinds):
        kinds += [tool.kind for tool in BOX_TOOLS if tool.is_in(files)]
    if signs.label_texts and (not kinds or expected == YOLO):
        # The list of classes can be missing; then the reader raises an error that says so.
        return [YOLO]
    return kinds


def _warning(kind: str, others: list[str]) -> UploadWarning:
    return UploadWarning(
        FORMAT_GUESSED,
        f"The archive also has {' and '.join(_WORDS[other] for other in others)}; {_WORDS[kind]} "
        f"was read. Choose one with the field 'format': {kind} or {' or '.join(others)}.",
        places=(kind, *others),
    )


def _read_table(files: BoxFiles) -> Annotations:
    tables = files.signs.tables
    if len(tables) > 1:
        raise _several(tables)
    folder = tables[0].path.removesuffix(ANNOTATIONS_NAME)
    source = BoxSource(files.pictures, folder, files.reject, files.check)
    with tempfile.SpooledTemporaryFile(max_size=_SMALL_BYTES) as file:
        try:
            for chunk in files.archive.chunks(tables[0], MAX_ANNOTATIONS_BYTES):
                files.check()
                file.write(chunk)
        except MemberProblem as problem:
            raise InvalidUpload(f"{ANNOTATIONS_NAME} cannot be read: {problem}") from None
        return read_annotations(cast("BinaryIO", file), source)


_READERS: Mapping[str, Callable[[BoxFiles], Annotations]] = {
    ANNOTATIONS: _read_table,
    COCO: coco.read_coco,
    YOLO: yolo.read_yolo,
    VOC: voc.read_voc,
    **{tool.kind: tool.read for tool in BOX_TOOLS},
}


def _several(members: list[ZipMember]) -> InvalidUpload:
    first, second = (show_path(member.path) for member in members[:2])
    return InvalidUpload(
        f"The archive has two files named {ANNOTATIONS_NAME}: {first} and {second}. "
        "Put all rows into one."
    )


def _missing(files: BoxFiles) -> InvalidUpload:
    # Hints from the file names tell the caller which format the archive might be meant for.
    signs = files.signs
    hint = f" Rename {show_path(signs.misnamed)}: small letters only." if signs.misnamed else ""
    others = (m for suffix in _UNREAD_SUFFIXES for m in islice(files.members(suffix), 1))
    if unread := _name_unread(files, [*signs.documents[:1], *signs.markup[:1], *others]):
        hint += unread
    elif signs.documents:
        hint += (
            f" {show_path(signs.documents[0].path)} is not COCO: it needs all of images, "
            "annotations and categories."
        )
    elif signs.markup:
        hint += f" {shown_name(signs.markup[0])} is not Pascal VOC: {voc.fault_of(files)}"
    return InvalidUpload(
        f"The archive has no {ANNOTATIONS_NAME}. Add one with a row for each image: its file "
        "name, then a cell for each box, a JSON object of label, x, y, width and height."
        f"{hint} COCO, YOLO and Pascal VOC are read, too. For images in folders named by their "
        "label use the type image."
    )


def _has_corners(files: BoxFiles, member: ZipMember) -> bool:
    """Return whether annotations.csv has one column per side of a box, as TensorFlow writes it."""
    with suppress(MemberProblem):
        head = next(files.archive.chunks(member, MAX_ANNOTATIONS_BYTES), b"")[:HEAD_BYTES]
        return is_box_table(head.decode("utf-8-sig", "ignore"))
    return False


def _name_unread(files: BoxFiles, members: list[ZipMember]) -> str:
    """Return an error text about the first file of a known unsupported tool; "" if none exists."""
    for member in members:
        with suppress(MemberProblem):
            content = files.read(member)
            for sign, tool, format_ in _UNREAD:
                if re.search(sign, content):
                    return f" {shown_name(member)} is a file of {tool}; convert it to {format_}."
    return ""
