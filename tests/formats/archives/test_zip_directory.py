"""Names of archive entries."""

from __future__ import annotations

import pytest

from chalicelib.formats.archives.zip_directory import (
    clean_path,
    find_path_problem,
    is_junk,
    show_path,
)


@pytest.mark.parametrize(
    "name", ["a.png", "a/b..c/d.png", "...", "a/…/b", "猫/😀.png", "ab:c/d.png"]
)
def test_harmless_paths(name: str) -> None:
    """A path is refused only if it leaves the archive, not for looking unusual."""
    assert find_path_problem(name) == ""


def test_junk_is_recognised_by_whole_steps() -> None:
    """A name that merely begins like a system file is an ordinary file."""
    assert all(map(is_junk, ["__MACOSX/a", "a/__MACOSX/b", ".a/b", "a/.b", "THUMBS.DB"]))
    assert not any(map(is_junk, ["__MACOSX2/a", "a/b.", "thumbs.db.png", "a/desktop.ini/b.png"]))


def test_shown_paths_fit_a_receipt() -> None:
    """Long paths are shortened at the front, and control characters removed, for receipts."""
    assert show_path("a/b.png") == "a/b.png"
    assert show_path("x" * 500 + "/b.png") == "…" + "x" * 93 + "/b.png"
    assert show_path("a\x1b[31m.png") == "a\N{REPLACEMENT CHARACTER}[31m.png"


def test_clean_path() -> None:
    """Empty segments and `.` are removed from a path."""
    assert clean_path("./a//b/./c.png") == "a/b/c.png"
