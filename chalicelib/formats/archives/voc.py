"""Reads Pascal VOC annotations: one XML document per image. See beyond.md, section 1.

The XML parser refuses entities and references to other documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.documents.picture import Box
from chalicelib.formats.archives.annotations import Annotations, check_limits, rejected
from chalicelib.formats.archives.box_cells import (
    CellFault,
    checked_label,
    checked_sides,
    found_image,
    turned_box,
)
from chalicelib.formats.archives.box_files import (
    BoxFiles,
    shown_name,
    swapped_folder,
    without_suffix,
)
from chalicelib.formats.archives.picture_index import as_path
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipMember

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PLACE = "Object {number} of {part}"
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
# Decimals of a side: further digits are noise of subtracting two decimal numbers.
_DIGITS = 6


class DocumentFault(ValueError):
    """An annotation document cannot be used. The message says why and what to do."""


def has_annotations(files: BoxFiles) -> bool:
    """Return whether one of the first XML documents of an archive is a Pascal VOC annotation."""
    return any(_is_annotation(files, member) for member in files.signs.markup)


def fault_of(files: BoxFiles) -> str:
    """Return why the first XML document of an archive is not Pascal VOC; "" if it is Pascal VOC."""
    try:
        _parse(files, files.signs.markup[0])
    except (DocumentFault, MemberProblem) as fault:
        return str(fault)
    return ""


def read_voc(files: BoxFiles) -> Annotations:
    """Read all boxes of an archive; raise InvalidUpload for too many boxes or labels."""
    result = Annotations(PLACE)
    claimed: dict[int, str] = {}
    for member in files.members(".xml"):
        try:
            root = _parse(files, member)
        except (DocumentFault, MemberProblem) as fault:
            _reject_namesake(files, member, result)
            files.reject(RejectedItem(str(fault), file=shown_name(member)))
            continue
        picture = _find_picture(files, member, (root.findtext("filename") or "").strip())
        if isinstance(picture, int) and claimed.setdefault(picture, member.path) != member.path:
            picture = f"its image has boxes from {claimed[picture]} already; keep one of them."
        _read_objects(files, result, member, root, picture)
        check_limits("The archive", len(result), len(result.book))
    return result


def _is_annotation(files: BoxFiles, member: ZipMember) -> bool:
    try:
        _parse(files, member)
    except (DocumentFault, MemberProblem):
        # A broken document can still be Pascal VOC, and then the caller must learn about the fault.
        return member.path.split("/")[-2:-1] == ["Annotations"]
    return True


def _parse(files: BoxFiles, member: ZipMember) -> Element:
    # Imported late because no other upload needs it.
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    content = files.read(member)
    try:
        root: Element = fromstring(content)
    except DefusedXmlException:
        raise DocumentFault(
            "the document declares entities, which are not read; write it without a DOCTYPE."
        ) from None
    except (ParseError, ValueError, LookupError, RecursionError) as problem:
        raise DocumentFault(f"the document is not valid XML: {problem}") from None
    if root.tag != "annotation":
        raise DocumentFault(
            f"the document begins with <{root.tag[:40]}>; one of Pascal VOC begins with "
            "<annotation>."
        )
    return root


def _find_picture(files: BoxFiles, member: ZipMember, file_name: str) -> int | str:
    # The image is named in the document; otherwise it has the document's own file name.
    path = without_suffix(member.path)
    own = files.stems.find_first((swapped_folder(path, "Annotations", "JPEGImages"), path))
    if not file_name:
        return own
    name, folder = as_path(file_name), member.path.removesuffix(member.name)
    places = (swapped_folder(folder + name, "Annotations", "JPEGImages"), folder + name, name)
    found = files.pictures.find_first(places)
    if isinstance(found, str):
        return own if isinstance(own, int) else found
    if isinstance(own, int) and own != found:
        return (
            f"the document names {file_name[:100]}, and another image has the document's name; "
            "correct the filename."
        )
    return found


def _reject_namesake(files: BoxFiles, member: ZipMember, result: Annotations) -> None:
    # The image of an unreadable document was already counted as rejected.
    picture = _find_picture(files, member, "")
    if isinstance(picture, int):
        result.note_rejected_box(picture)


def _read_objects(
    files: BoxFiles, result: Annotations, member: ZipMember, root: Element, picture: int | str
) -> None:
    """Add the boxes of one document. `picture` is the image's index, or why it was not found."""
    part = result.parts
    result.name_parts([shown_name(member)])
    if isinstance(picture, int):
        result.note_size(picture, _size(root, "width"), _size(root, "height"))
    for number, found in enumerate(root.iterfind("object"), 1):
        try:
            index = found_image(picture)
            label = checked_label(found.findtext("name") or "")
            result.add(index, (number, part), label, _read_box(found))
        except CellFault as fault:
            if isinstance(picture, int):
                result.note_rejected_box(picture)
            at = (number, result.part_name(part))
            files.reject(rejected(PLACE, at, member.path, str(fault)))


def _size(root: Element, side: str) -> int:
    written = (root.findtext(f"size/{side}") or "").strip()
    return int(written) if written.isdecimal() and len(written) < 7 else 0


def _read_box(element: Element) -> Box:
    """Return the box of a VOC object in pixels; raise CellFault if it is missing or invalid."""
    written = [(element.findtext(f"bndbox/{name}") or "").strip() for name in _CORNERS]
    if not all(written):
        raise CellFault("it has no bndbox of xmin, ymin, xmax and ymax; draw a box.")
    try:
        left, top, right, bottom = map(float, written)
    except ValueError:
        raise CellFault("a side of its bndbox is not a number; write pixels.") from None
    box = checked_sides(left, top, round(right - left, _DIGITS), round(bottom - top, _DIGITS))
    attributes = {
        each.findtext("name"): each.findtext("value")
        for each in element.iterfind("attributes/attribute")
    }
    return turned_box(box, attributes.get("rotation"))
