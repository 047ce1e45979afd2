"""What an archive of feedback must keep to besides: labels of the dataset, and names of its own.

Contract section 5, PUT /v2/vision/bulkfeedback.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet

from chalicelib.formats.archives.annotations import CellFault
from chalicelib.formats.archives.zip_archive import MemberProblem
from chalicelib.formats.archives.zip_names import show_path


class FeedbackRules:
    """Refuses unknown labels and used file names, within one reading of an archive.

    Args:
        labels: label names of the dataset.
        used_names: file names that the dataset has; only those of the archive matter.
    """

    def __init__(self, labels: Collection[str], used_names: AbstractSet[str]) -> None:
        self._labels = frozenset(labels)
        self._used_names = set(used_names)

    def check_name(self, name: str) -> None:
        """Refuse a picture whose name is in use.

        Raises:
            MemberProblem: the dataset, or this archive, has an example of this name.
        """
        if name in self._used_names:
            raise MemberProblem("an example has this file name already; rename the file.")

    def check_label(self, label: str) -> None:
        """Refuse a box whose label is new.

        Raises:
            CellFault: the dataset has no such label.
        """
        if label not in self._labels:
            raise CellFault(
                f"'{show_path(label)}' is no label of the dataset; use one of its labels."
            )

    def take(self, name: str) -> None:
        """Note the name of a picture that is kept."""
        self._used_names.add(name)
