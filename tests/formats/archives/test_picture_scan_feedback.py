"""The rules for an archive of feedback."""

from __future__ import annotations

import pytest

from chalicelib.formats.archives.box_cells import CellFault
from chalicelib.formats.archives.picture_scan import FeedbackRules
from chalicelib.formats.archives.zip_archive import MemberProblem


def test_labels_are_those_of_the_dataset() -> None:
    """A label must exist exactly; an unknown one is named with the remedy."""
    rules = FeedbackRules({"can"}, frozenset())

    rules.check_label("can")
    for label in ("Can", "can ", ""):
        with pytest.raises(CellFault, match=f"'{label}' is not a label of the dataset; use one"):
            rules.check_label(label)


def test_names_are_used_once() -> None:
    """A name that the dataset or the archive already has is rejected."""
    used = frozenset({"a.png"})
    rules = FeedbackRules({"can"}, used)

    rules.check_name("b.png")
    rules.check_name("b.png")
    rules.add("b.png")

    for name in ("a.png", "b.png"):
        with pytest.raises(MemberProblem, match="already; rename"):
            rules.check_name(name)
    assert used == {"a.png"}
