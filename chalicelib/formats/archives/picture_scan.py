"""Decides which images of a zip archive become examples, and passes them to a callback.

The archive is read once. The callback stores each accepted image immediately. The caller writes the
examples after the scan has succeeded. Images are stored under their digest, so a repeated scan
stores the same objects. See contract section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from chalicelib.domain.common.limits import (
    MAX_DETECTION_IMAGE_BYTES,
    MAX_IMAGE_BYTES,
    MAX_IMAGE_NAME_CHARACTERS,
)
from chalicelib.domain.datasets.dataset import DETECTION
from chalicelib.domain.datasets.example import box_digest, picture_digest
from chalicelib.domain.datasets.growth import check_bytes, check_examples, check_labels
from chalicelib.domain.datasets.preview import PREVIEW_ROWS, PreviewRow, cut_row
from chalicelib.domain.datasets.receipt import RejectedItem, UploadScan
from chalicelib.domain.datasets.upload_format import (
    ANNOTATIONS,
    ENCODING_GUESSED,
    RECOGNISED,
    ZIP_FOLDERS,
    FileFormat,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.domain.datasets.upload_warnings import (
    LEAST_INSIDE,
    TINY_SIDE,
    OddBoxes,
    refuse_warnings,
    warn_of_counts,
    warn_of_cut_boxes,
    warn_of_guessed_corners,
    warn_of_labels,
    warn_of_rotated_images,
    warn_of_tiny_boxes,
)
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.annotations import Annotations, BoxRow
from chalicelib.formats.archives.box_cells import CellFault, fraction_inside
from chalicelib.formats.archives.box_files import (
    BoxFiles,
    SignsOfBoxes,
    is_annotations,
    is_companion,
)
from chalicelib.formats.archives.box_kinds import find_boxes, warn_of_unused
from chalicelib.formats.archives.folders.labels import FolderLabels
from chalicelib.formats.archives.member_pictures import MemberImage, MemberImages
from chalicelib.formats.archives.name_encoding import NameGuess
from chalicelib.formats.archives.picture_examples import PictureItems
from chalicelib.formats.archives.zip_archive import (
    MemberProblem,
    ZipArchive,
    ZipMember,
    open_archive,
)
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.pictures.orientation import UPRIGHT
from chalicelib.formats.pictures.rules import PictureFacts

_NO_BOX = "no box of this image was found; an image without objects is left out."


@dataclass(frozen=True)
class ImageRules:
    """The dataset to which an archive is added, and the rules for the archive's images."""

    type: str
    """Type of the dataset: image, image-multi-label or image-detection."""
    known: Mapping[str, AbstractSet[bytes]] = field(default_factory=dict)
    """Digests of the dataset's examples (`Example.digest`) by label."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Current name of each renamed label, by its former name."""
    pictures: AbstractSet[bytes] = frozenset()
    """Digests of the image files of a detection dataset; empty for other types."""
    examples: int = 0
    """Number of examples in the dataset."""
    bytes: int = 0
    """Size of the distinct images in the dataset, in bytes."""
    feedback: FeedbackRules | None = None
    """Further rules for an archive of feedback; None for uploads."""
    options: ReadingOptions = RECOGNISED
    """How the caller wants the archive to be read."""

    @property
    def is_detection(self) -> bool:
        """Return whether the examples of the dataset are boxes."""
        return self.type == DETECTION

    def current_name(self, label: str) -> str:
        """Return the current name of a label, given its current or a former name."""
        return self.renames.get(label, label)

    @property
    def max_image_bytes(self) -> int:
        """Return the maximum size of an image file in bytes."""
        return MAX_DETECTION_IMAGE_BYTES if self.is_detection else MAX_IMAGE_BYTES


@dataclass(frozen=True)
class Sink:
    """Callbacks that receive the accepted images of a scan."""

    keep: Callable[[bytes, bytes, PictureFacts], None]
    """Stores an image, given its digest, bytes, and type and size. Called once per distinct image.
    """
    check: Callable[[], None]
    """Called between files; may raise an error to stop the scan."""
    begin: Callable[[UploadScan], object] = lambda _: None
    """Called with the result before the first file is read. The scan then fills the result."""


@dataclass
class ImageScan(UploadScan):
    """The result of a scan: the images or boxes that become examples."""

    items: PictureItems = field(default_factory=PictureItems)
    """Accepted examples, in order."""
    first_rows: list[PreviewRow] = field(default_factory=list)
    """The first files of the archive with their labels, for a preview."""

    def show(self, member: ZipMember, label: str = "", reason: str | None = None) -> None:
        """Add a file of the archive to the preview, unless the preview is full."""
        if len(self.first_rows) < PREVIEW_ROWS:
            path = show_path(member.path)
            row = cut_row(member.index + 1, path.split("/"), (path, label), reason)
            self.first_rows.append(replace(row, label=row.label or None))


def scan_images(file: BinaryIO, rules: ImageRules, sink: Sink) -> ImageScan:
    """Read an archive, decide which examples to accept, and pass the accepted images to `sink`.

    The scan needs memory for one image file. In addition, it needs about 300 bytes per file of the
    archive, and 150 bytes per box.

    Args:
        file: The zip archive, seekable; it stays open.
        rules: The rules of the dataset to which the archive is added.
        sink: Receives the accepted images.

    Raises:
        InvalidZip: the file is not a usable zip archive. The error text lacks the name of the
            dataset, which the caller adds.
        InvalidUpload: the archive has no usable example, or exceeds a limit of the dataset.
        Exception: any error that a callback of `sink` raises.
    """
    archive = open_archive(file, rules.options.encoding)
    scan = _Scan(archive, rules, sink)
    if rules.is_detection:
        scan.read_boxes()
    else:
        scan.read_folders()
    _check_useful(scan.result, rules)
    if archive.name_guess.sample:
        scan.result.warnings.append(_warn_of_names(archive.name_guess))
    _warn(scan.result, rules)
    return scan.result


def _warn_of_names(guess: NameGuess) -> UploadWarning:
    message = (
        f"Names of files and folders are not UTF-8; they were read as {guess.describe()}. Check "
        "the labels. If they are wrong, send another code page as 'encoding', or make the archive "
        "again with a tool that writes UTF-8."
    )
    return UploadWarning(ENCODING_GUESSED, message, 1, guess.encodings)


class _Scan:
    """A scan of an archive, in progress."""

    def __init__(self, archive: ZipArchive, rules: ImageRules, sink: Sink) -> None:
        self._archive = archive
        self._rules = rules
        self._sink = sink
        self._digests: dict[str, set[bytes]] = {}
        self._kept_pictures: set[bytes] = set()
        kind = ANNOTATIONS if rules.is_detection else ZIP_FOLDERS
        self._annotations = Annotations()
        self._pictures = MemberImages(archive, rules.max_image_bytes, shrinks=rules.options.shrink)
        self._tiny, self._cut, self._rotated = OddBoxes(), OddBoxes(), OddBoxes()
        self._fits_otherwise = True
        self.result = ImageScan(format=FileFormat(kind))
        sink.begin(self.result)

    def read_folders(self) -> None:
        """Read an archive whose labels are in folder names or label tables."""
        signs, options = SignsOfBoxes(), self._rules.options
        labels = FolderLabels(
            self._archive, self._rules.type, options, self.result.reject, self._sink.check
        )
        for member in self._archive.members():
            self._sink.check()
            signs.note(member)
            if labels.is_table(member):
                continue
            try:
                self.result.show(member, self._read_labelled(member, labels))
            except MemberProblem as problem:
                self.result.show(member, labels.preview(member), str(problem))
                self.result.reject(RejectedItem(str(problem), file=show_path(member.path)))
        self.result.warnings += labels.warnings()
        if not options.format:
            self.result.warnings += warn_of_unused(signs)

    def _read_labelled(self, member: ZipMember, labels: FolderLabels) -> str:
        """Accept an image unless it is a duplicate; return its labels as text for a preview."""
        if member.problem:
            raise MemberProblem(member.problem)
        names = list(dict.fromkeys(map(self._rules.current_name, labels.labels_of(member))))
        picture = self._pictures.read(member)
        digest = picture_digest(picture.content)
        new = [label for label in names if not self._is_there(label, digest)]
        self.result.duplicates += len(names) - len(new)
        if new:
            self._keep_picture(member, digest, picture.content, self._pictures.check(picture))
        for label in new:
            self._keep_example(label, digest)
        return ", ".join(names)

    def read_boxes(self) -> None:
        """Read an archive whose labels are in annotation files."""
        files = BoxFiles(self._archive, self.result.reject, self._sink.check)
        kind, self._annotations, warnings = find_boxes(files, self._rules.options.format)
        self.result.format = FileFormat(kind)
        self.result.warnings += warnings
        for member in self._archive.members():
            self._sink.check()
            if is_annotations(member) or (kind != ANNOTATIONS and is_companion(member)):
                continue
            self._read_boxed(member)
        self.result.warnings += [*warn_of_tiny_boxes(self._tiny), *warn_of_cut_boxes(self._cut)]
        if self._annotations.has_guessed_corners and self._fits_otherwise:
            self.result.warnings += warn_of_guessed_corners(self.result.kept)
        # By the contract, annotations.csv gives boxes in pixels of the displayed image.
        if kind != ANNOTATIONS:
            self.result.warnings += warn_of_rotated_images(self._rotated)

    def _read_boxed(self, member: ZipMember) -> None:
        boxes = list(self._annotations.boxes_of(member.index))
        try:
            if self._rules.feedback:
                self._rules.feedback.check_name(_cut_name(member))
            picture = self._pictures.read(member)
            facts = self._pictures.check(picture)
        except MemberProblem as problem:
            self.result.show(member, _list_labels(boxes), str(problem))
            self._reject_picture(member, boxes, str(problem))
            return
        self.result.show(member, _list_labels(boxes), None if boxes else _NO_BOX)
        if boxes:
            self._read_annotated(member, picture, facts, boxes)
        else:
            self._reject_without_box(member)

    def _read_annotated(
        self, member: ZipMember, picture: MemberImage, facts: PictureFacts, boxes: list[BoxRow]
    ) -> None:
        name = picture_digest(picture.content)
        is_kept = False
        if (picture.original or facts).orientation != UPRIGHT:
            self._rotated.add(show_path(member.path))
        for row in boxes:
            label = self._rules.current_name(row.label)
            try:
                if self._rules.feedback:
                    self._rules.feedback.check_label(label)
                box = self._placed_box(row, member, picture, facts)
            except CellFault as fault:
                self.result.reject(row.reject(member.path, str(fault)))
                continue
            digest = box_digest(name, box)
            if self._is_there(label, digest):
                self.result.duplicates += 1
                continue
            if not is_kept:
                self._keep_picture(member, name, picture.content, facts)
                is_kept = True
            self._keep_example(label, digest, box)
            if min(box.width, box.height) < TINY_SIDE:
                self._tiny.add(f"{show_path(member.path)}: {row.label}")

    def _placed_box(
        self, row: BoxRow, member: ZipMember, picture: MemberImage, facts: PictureFacts
    ) -> Box:
        if row.label_fault:
            raise CellFault(row.label_fault)
        sent = picture.original or facts
        box = self._annotations.in_pixels(row, member.index, (sent.width, sent.height))
        placed = picture.place_box(box, facts)
        if fraction_inside(box, sent.width, sent.height) < LEAST_INSIDE:
            self._cut.add(f"{show_path(member.path)}: {row.label}")
        if self._annotations.has_guessed_corners:
            other = Box(*box.corners)
            inside = fraction_inside(other, sent.width, sent.height)
            self._fits_otherwise &= inside >= LEAST_INSIDE
        return placed

    def _reject_picture(self, member: ZipMember, boxes: list[BoxRow], reason: str) -> None:
        # A rejected file counts once for each of its boxes, or once if it has none.
        for row in boxes:
            self.result.reject(row.reject(member.path, reason))
        if not boxes:
            self.result.reject(RejectedItem(reason, file=show_path(member.path)))

    def _reject_without_box(self, member: ZipMember) -> None:
        # If boxes of the image were rejected, the receipt already says what is wrong.
        if not self._annotations.has_rejected_box(member.index):
            reason = (
                "annotations.csv has no box of this image; add a row with its boxes."
                if self.result.format == FileFormat(ANNOTATIONS)
                else _NO_BOX
            )
            self.result.reject(RejectedItem(reason, file=show_path(member.path)))

    def _is_there(self, label: str, digest: bytes) -> bool:
        return digest in self._digests.get(label, ()) or digest in self._rules.known.get(label, ())

    def _keep_picture(
        self, member: ZipMember, digest: bytes, content: bytes, facts: PictureFacts
    ) -> None:
        # An image with several examples is passed on once.
        self.result.items.add_file(_cut_name(member), digest)
        if self._rules.feedback:
            self._rules.feedback.add(_cut_name(member))
        if digest in self._kept_pictures:
            return
        self._kept_pictures.add(digest)
        if not _is_held(self._rules, digest):
            self.result.bytes += len(content)
            check_bytes(self._rules.bytes + self.result.bytes)
        self._sink.keep(digest, content, facts)

    def _keep_example(self, label: str, digest: bytes, box: Box | None = None) -> None:
        """Add an example of the most recently accepted image."""
        result = self.result
        if label not in result.kept_by_label:
            result.kept_by_label[label] = 0
            if label not in self._rules.known:
                result.new_labels.append(label)
                labels = len(self._rules.known) + len(result.new_labels)
                check_labels(labels, "the folders are the labels")
        result.kept_by_label[label] += 1
        result.kept += 1
        check_examples(self._rules.examples + result.kept)
        self._digests.setdefault(label, set()).add(digest)
        result.items.add(label, box)


def _is_held(rules: ImageRules, digest: bytes) -> bool:
    return digest in rules.pictures or (
        not rules.is_detection and any(digest in found for found in rules.known.values())
    )


def _cut_name(member: ZipMember) -> str:
    return member.name[:MAX_IMAGE_NAME_CHARACTERS]


def _list_labels(boxes: list[BoxRow]) -> str:
    return ", ".join(dict.fromkeys(row.label for row in boxes))


def _check_useful(result: ImageScan, rules: ImageRules) -> None:
    if result.kept + result.duplicates:
        return
    if not result.rejected:
        raise InvalidUpload(
            "The archive holds no images. Send PNG and JPEG files"
            + (" with annotations.csv." if rules.is_detection else " in a folder for each label.")
        )
    reasons = dict.fromkeys(
        item.reason if item.row else f"{item.file}: {item.reason}" for item in result.rejections
    )
    what = "boxes and images" if rules.is_detection else "files"
    raise InvalidUpload(
        f"None of the {result.rejected:,} {what} can be used. {' '.join(list(reasons)[:2])}"
    )


def _warn(result: ImageScan, rules: ImageRules) -> None:
    counts = {label: len(digests) for label, digests in rules.known.items()}
    for label, kept in result.kept_by_label.items():
        counts[label] = counts.get(label, 0) + kept
    result.warnings += warn_of_labels(counts)
    result.warnings += warn_of_counts(result.kept_by_label, result.duplicates, is_text=False)
    if rules.options.strict:
        refuse_warnings(result.warnings)


class FeedbackRules:
    """Checks an archive of feedback. The dataset must have its labels, but not its file names.

    Args:
        labels: Names of the dataset's labels.
        used_names: File names of the dataset's examples. Names that do not occur in the archive
            may be left out.
    """

    def __init__(self, labels: Collection[str], used_names: AbstractSet[str]) -> None:
        self._labels = frozenset(labels)
        self._used_names = set(used_names)

    def check_name(self, name: str) -> None:
        """Raise MemberProblem if the dataset or the archive already has an image named `name`."""
        if name in self._used_names:
            raise MemberProblem("an example has this file name already; rename the file.")

    def check_label(self, label: str) -> None:
        """Raise CellFault if the dataset does not have the label of a box."""
        if label not in self._labels:
            raise CellFault(
                f"'{show_path(label)}' is not a label of the dataset; use one of its labels."
            )

    def add(self, name: str) -> None:
        """Record the name of an accepted image."""
        self._used_names.add(name)
