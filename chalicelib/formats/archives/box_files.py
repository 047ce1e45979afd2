"""Lists and reads the files of a detection archive, which has images and annotation files.

The total size of all unpacked files, except images, is limited. So an archive of many small files
cannot exhaust memory or time.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import PurePosixPath

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.annotations_csv import ANNOTATIONS_NAME
from chalicelib.formats.archives.picture_index import ImageIndex
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipArchive, ZipMember
from chalicelib.formats.archives.zip_directory import show_path

# Size limit of all annotation files of an archive together, unpacked.
MAX_BOX_FILE_BYTES = 256 * 1024 * 1024
# Size limit of an annotation file for a single image.
MAX_PICTURE_FILE_BYTES = 2 * 1024 * 1024
# File names by which tools store the class names of YOLO.
CLASS_LISTS = ("data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names")
_TEXT_SUFFIXES = frozenset(
    (
        *(".txt", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".csv", ".md"),
        *(".names", ".data", ".cache"),
    )
)
_LABEL_FOLDERS = frozenset(("labels", "obj_train_data", "obj_valid_data"))
_SHOWN_DOCUMENTS = 5
_SMALL_BYTES = 1 << 20


def is_annotations(member: ZipMember) -> bool:
    """Return whether a file is named annotations.csv, as the documentation requires."""
    return member.name == ANNOTATIONS_NAME


def is_companion(member: ZipMember) -> bool:
    """Return whether a file has a suffix that annotation files or class lists have, like `.txt`."""
    return suffix_of(member) in _TEXT_SUFFIXES


def is_label_text(member: ZipMember) -> bool:
    """Return whether a file is a `.txt` file in a folder that YOLO uses, such as `labels`."""
    folder = member.path.rpartition("/")[0]
    return (
        suffix_of(member) == ".txt"
        and member.name not in CLASS_LISTS
        and not _LABEL_FOLDERS.isdisjoint(folder.split("/"))
    )


def suffix_of(member: ZipMember) -> str:
    """Return the suffix of a file name in lower case, with the dot."""
    return PurePosixPath(member.name).suffix.lower()


def without_suffix(path: str) -> str:
    """Return a path without its suffix."""
    return path.removesuffix(PurePosixPath(path).suffix)


def swapped_folder(path: str, folder: str, new_folder: str) -> str:
    """Replace the last folder named `folder` in a path by `new_folder`."""
    parts = path.split("/")
    for at in range(len(parts) - 2, -1, -1):
        if parts[at] == folder:
            return "/".join((*parts[:at], new_folder, *parts[at + 1 :]))
    return path


class SignsOfBoxes:
    """Collects the files of an archive that, by their names, may be annotation files."""

    def __init__(self) -> None:
        self.tables: list[ZipMember] = []
        self.documents: list[ZipMember] = []
        self.class_lists: list[ZipMember] = []
        self.other_lists: list[ZipMember] = []
        self.label_texts: list[ZipMember] = []
        self.markup: list[ZipMember] = []
        self.misnamed = ""

    def note(self, member: ZipMember) -> None:
        """Record a file if it may be an annotation file or a class list, judged by its name."""
        suffix = suffix_of(member)
        if is_annotations(member):
            self.tables.append(member)
        elif member.name.lower() == ANNOTATIONS_NAME:
            self.misnamed = member.path
        elif member.name in CLASS_LISTS:
            self.class_lists.append(member)
        elif suffix in (".yaml", ".yml"):
            _note_first(self.other_lists, member)
        elif suffix == ".json":
            self.documents.append(member)
        elif is_label_text(member):
            _note_first(self.label_texts, member)
        elif suffix == ".xml":
            _note_first(self.markup, member)

    @property
    def instances(self) -> list[ZipMember]:
        """Return the collected JSON files whose names look like names of COCO annotations."""
        return [member for member in self.documents if _is_instances(member.name)]


def _note_first(members: list[ZipMember], member: ZipMember) -> None:
    # There can be one file for each image, so only the first ones are recorded.
    if len(members) < _SHOWN_DOCUMENTS:
        members.append(member)


def _is_instances(name: str) -> bool:
    return name.startswith("instances") or name.endswith(".coco.json")


class BoxFiles:
    """The files of one archive. They are listed once, and read when they are needed."""

    def __init__(
        self,
        archive: ZipArchive,
        reject: Callable[[RejectedItem], None],
        check: Callable[[], None],
    ) -> None:
        """List the files of an archive.

        Args:
            archive: A detection archive.
            reject: Called with each box that cannot be used.
            check: Called often; may raise an error to stop.
        """
        self.archive, self.reject, self.check = archive, reject, check
        self.pictures = ImageIndex()
        self.signs = SignsOfBoxes()
        self._left, self._counted = MAX_BOX_FILE_BYTES, set[int]()
        for member in archive.members():
            self.signs.note(member)
            if member.entry.path_problem or is_annotations(member):
                continue
            self.pictures.add(member.index, member.path)

    @cached_property
    def stems(self) -> ImageIndex:
        """Return an index that finds an image by its path without suffix."""
        index = ImageIndex()
        for member in self.archive.members():
            if not member.entry.path_problem and not is_companion(member):
                index.add(member.index, without_suffix(member.path))
        return index

    def members(self, suffix: str) -> Iterator[ZipMember]:
        """Yield the files with the suffix `suffix`, and call `check` before each file."""
        for member in self.archive.members():
            if suffix_of(member) == suffix:
                self.check()
                yield member

    def read(self, member: ZipMember, limit: int = MAX_PICTURE_FILE_BYTES) -> bytes:
        """Return the content of a file.

        Raises:
            MemberProblem: the file cannot be used.
            InvalidUpload: all annotation files together are too large.
        """
        content = self.archive.read(member, limit)
        self._take(member)
        return content

    def map_file(self, member: ZipMember) -> mmap.mmap | bytes:
        """Return the content of a file. Unpack a large file to disk, and map it into memory.

        Raises:
            InvalidUpload: the file cannot be used.
        """
        self._take(member)
        try:
            if member.entry.size_bytes <= _SMALL_BYTES:
                self.check()
                return self.archive.read(member, _SMALL_BYTES)
            with tempfile.TemporaryFile() as file:
                for chunk in self.archive.chunks(member, MAX_BOX_FILE_BYTES):
                    self.check()
                    file.write(chunk)
                file.flush()
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except MemberProblem as problem:
            raise InvalidUpload(f"{shown_name(member)} cannot be read: {problem}") from None

    def _take(self, member: ZipMember) -> None:
        # The size of a file counts once, however often it is read.
        if member.index in self._counted:
            return
        self._counted.add(member.index)
        self._left -= member.entry.size_bytes
        if self._left < 0:
            raise InvalidUpload(
                f"The files of boxes in the archive unpack to more than {MAX_BOX_FILE_BYTES:,} "
                "bytes (256 MB). Split the archive, and add the other parts with PUT."
            )


def shown_name(member: ZipMember) -> str:
    """Return the path of a file, for messages. For annotations.csv, return only the file name."""
    return ANNOTATIONS_NAME if is_annotations(member) else show_path(member.path)
