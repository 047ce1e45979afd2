"""Finds the labels of images in an archive without boxes, in folder names or label tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import filterfalse

from chalicelib.domain.datasets.dataset import MULTI_LABEL
from chalicelib.domain.datasets.label_names import normal_form
from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.domain.datasets.upload_format import (
    MAX_PLACES,
    SPLIT_FOLDERS,
    ReadingOptions,
    UploadWarning,
)
from chalicelib.domain.datasets.upload_warnings import warn_of_several_labels
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.box_files import BoxFiles, is_companion, suffix_of
from chalicelib.formats.archives.folders.label_tables import (
    LabelTables,
    is_label_table,
    read_label_tables,
)
from chalicelib.formats.archives.folders.splits import IMAGES, SplitFolders, split_of
from chalicelib.formats.archives.picture_examples import LabelBook, cut_label, find_label_fault
from chalicelib.formats.archives.zip_archive import MemberProblem, ZipArchive, ZipMember
from chalicelib.formats.archives.zip_directory import show_path

_TABLES = (".csv", ".jsonl")


class FolderLabels:
    """Finds the labels of the images in an archive, from folder names or label tables."""

    def __init__(
        self,
        archive: ZipArchive,
        dataset_type: str,
        options: ReadingOptions,
        reject: Callable[[RejectedItem], None],
        check: Callable[[], None],
    ) -> None:
        """Read the names of folders and the label tables.

        Args:
            archive: An archive without boxes.
            dataset_type: `image` or `image-multi-label`.
            options: How the caller wants the archive to be read.
            reject: Called with each row of a table that cannot be used.
            check: Called often; may raise an error to stop.

        Raises:
            InvalidUpload: a label table cannot be read.
        """
        self._is_multi = dataset_type == MULTI_LABEL
        members, folders = list[ZipMember](), set[str]()
        for member in archive.members():
            if not member.problem and is_label_table(member):
                members.append(member)
            elif not member.problem and not is_companion(member):
                folders.add(_path_of(member))
        self._splits = SplitFolders(folders)
        self._are_unnamed = bool(folders) and not members and _are_unnamed(folders)
        are_tables = not members and _are_unnamed(f for f in folders if not split_of(f))
        self._unread = _list_tables(archive) if are_tables else []
        self._table_folders = {_path_of(member) for member in members or self._unread}
        files = BoxFiles(archive, reject, check)
        self._is_split_at = bool(options.label_separator)
        self._tables = self._read_tables(files, members, options.label_separator)
        if self._is_split_at and not self._tables.labels:
            raise InvalidUpload(
                "'labelSeparator' splits the cells of a label table, and the archive has none "
                "that names its images. Add _classes.csv or train.csv, or leave it out."
            )
        used = (members or self._unread) if self._tables.labels else []
        self._used = {member.index for member in used}
        self._read = tuple(show_path(member.path) for member in used)
        self._book = LabelBook()
        for name in filterfalse(find_label_fault, self._all_names(archive)):
            self._book.add(name)

    def _read_tables(
        self, files: BoxFiles, members: list[ZipMember], separator: str
    ) -> LabelTables:
        # Only the content of a table with another name shows whether it holds labels of images.
        labelled = set[int]()
        for member in self._unread:
            trial = BoxFiles(files.archive, lambda _: None, files.check)
            with suppress(InvalidUpload):
                found = read_label_tables(trial, [member], separator, self._may_use_table).labels
                if not labelled.isdisjoint(found):
                    return LabelTables()
                labelled |= found.keys()
                members = [*members, member] if found else members
        self._unread = members if labelled else self._unread
        return read_label_tables(files, members, separator, self._may_use_table)

    def is_table(self, member: ZipMember) -> bool:
        """Return whether a file is one of the label tables that were read."""
        return member.index in self._used

    def preview(self, member: ZipMember) -> str:
        """Return the labels of an image as one text, for a preview. The labels are not checked."""
        return ", ".join(self._names_of(member))

    def labels_of(self, member: ZipMember) -> list[str]:
        """Return the labels of an image, cut to the maximum length.

        Raises:
            MemberProblem: the image has no label, or a label cannot be used.
        """
        names = self._names_of(member)
        if not names:
            raise MemberProblem(self._explain_missing(member))
        if len(names) > 1 and not self._is_multi:
            raise MemberProblem(
                f"the label table gives the image {len(names)} labels; leave one, or use the "
                f"type {MULTI_LABEL}."
            )
        for name in names:
            fault = find_label_fault(name) or self._book.find_fault(cut_label(name))
            if fault:
                raise MemberProblem(fault)
        return list(dict.fromkeys(map(cut_label, names)))

    def warnings(self) -> list[UploadWarning]:
        """Return warnings about the source of labels, and about cells that may be label lists."""
        found = self._describe_splits()
        if not self._is_split_at:
            found += warn_of_several_labels(self._tables.names)
        return found

    def _describe_splits(self) -> list[UploadWarning]:
        places = tuple(sorted(map(show_path, self._splits.outer | self._splits.inner)))
        if self._tables.labels:
            places = self._read
            message = "Labels were read from the label table; folders such as train are not labels."
        elif self._unread or (self._are_unnamed and not self._splits.repeating):
            table = show_path(self._unread[0].path) if self._unread else "another file"
            message = (
                f"No folder is named by a label. If {table} holds the labels, rename it to "
                "train.csv, a table of file names and labels below the names image and label."
            )
        elif places:
            message = (
                f"Folders such as {places[0]} are parts of the dataset and not labels; the class "
                "folders are the labels."
            )
        elif self._splits.loose:
            places = tuple(sorted(map(show_path, self._splits.loose)))
            message = (
                f"Folders such as {places[0]} were read as labels, next to parts of the dataset "
                "that hold class folders. If they are no labels, leave them out."
            )
        elif self._splits.repeating:
            places = tuple(sorted(map(show_path, self._splits.repeating)))
            message = (
                f"Folders such as {places[0]} hold folders of the same names, which are the "
                "labels. If the folders above are your labels, put the images into them."
            )
        elif self._splits.are_labels:
            message = (
                "The labels are named like parts of a dataset, such as train and valid. If they "
                "are not your labels, put each image into a folder named by its label."
            )
        else:
            return []
        return [UploadWarning(SPLIT_FOLDERS, message, max(1, len(places)), places[:MAX_PLACES])]

    def _may_use_table(self, member: ZipMember) -> bool:
        """Return whether a table may label an image, because the image's folder is not a label."""
        if member.problem or is_companion(member):
            return False
        folder = _path_of(member)
        if not folder or split_of(folder):
            return True
        above, _, name = folder.rpartition("/")
        is_next = bool(split_of(above)) or not self._table_folders.isdisjoint((above, folder))
        return is_next and name.casefold() in IMAGES

    def _names_of(self, member: ZipMember) -> list[str]:
        if self._tables.labels and self._may_use_table(member):
            return [self._tables.names[at] for at in self._tables.labels.get(member.index, ())]
        folder = _path_of(member)
        if folder in self._splits.inner:
            folder = folder.rpartition("/")[0]
        elif folder in self._splits.outer or not folder:
            return []
        return [normal_form(folder.rpartition("/")[2])]

    def _explain_missing(self, member: ZipMember) -> str:
        if self._tables.labels and self._may_use_table(member):
            return "no label table has a row of this image; add one."
        if _path_of(member) in self._splits.outer:
            return (
                "the file is in a part of the dataset and not in a class folder; put it into a "
                "folder named by its label."
            )
        return (
            "the file is not in a folder, so it has no label; put it into a folder named by its "
            "label."
        )

    def _all_names(self, archive: ZipArchive) -> Iterator[str]:
        yield from self._tables.names
        for member in archive.members():
            if not member.problem:
                yield from self._names_of(member)


def _are_unnamed(folders: Iterable[str]) -> bool:
    """Return whether all folders have names like `images`, so that no folder name is a label."""
    return {folder.rpartition("/")[2].casefold() for folder in folders} <= IMAGES | {""}


def _list_tables(archive: ZipArchive) -> list[ZipMember]:
    return [m for m in archive.members() if not m.problem and suffix_of(m) in _TABLES]


def _path_of(member: ZipMember) -> str:
    return member.path.rpartition("/")[0]
