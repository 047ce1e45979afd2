"""Files that an agent names: only regular files below allowed folders, never through a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from presage.agents.allowed_folders import MAX_BYTES, AllowedFolders, FileRefused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An allowed folder with one file; a secret is next to the folder."""
    inner = tmp_path / "allowed" / "inner"
    inner.mkdir(parents=True)
    (inner / "page.png").write_bytes(b"content")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return tmp_path / "allowed"


@pytest.mark.parametrize(
    "name", ["inner/page.png", "inner/../inner/page.png", "{root}/inner/page.png"]
)
def test_file_below_the_folder_is_read(root: Path, name: str) -> None:
    """Relative and absolute paths are read; the stream has the file's name."""
    found = AllowedFolders([root]).read(name.format(root=root))
    assert (found.read(), found.name) == (b"content", "page.png")


@pytest.mark.parametrize("name", ["../secret.txt", "{root}/../secret.txt", "/etc/passwd", ".", ""])
def test_file_outside_is_refused(root: Path, name: str) -> None:
    """A path that leads out of the folder is refused with the folders that are allowed."""
    with pytest.raises(FileRefused, match="outside of the allowed folders"):
        AllowedFolders([root]).read(name.format(root=root))


def test_links_are_not_followed(root: Path) -> None:
    """Neither a link to a file nor a linked folder on the way leads out."""
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "up").symlink_to(root.parent)
    for name in ("link.txt", "up/secret.txt"):
        with pytest.raises(FileRefused, match="cannot be read"):
            AllowedFolders([root]).read(name)


def test_only_regular_files_are_read(root: Path) -> None:
    """A named pipe does not block the server, and a folder is refused."""
    os.mkfifo(root / "pipe")
    for name in ("pipe", "inner"):
        with pytest.raises(FileRefused, match=r"not a regular file|cannot be read"):
            AllowedFolders([root]).read(name)


def test_size_is_limited(root: Path) -> None:
    """A file above the limit of the service is refused with both numbers."""
    with (root / "large").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(FileRefused, match=f"{MAX_BYTES + 1} bytes; 1 to {MAX_BYTES}"):
        AllowedFolders([root]).read("large")


def test_without_folders_nothing_is_read(root: Path) -> None:
    """The refusal names the option; a folder that does not exist is refused at the start."""
    with pytest.raises(FileRefused, match="--root"):
        AllowedFolders([]).read("page.png")
    with pytest.raises(FileRefused, match="not a folder"):
        AllowedFolders([root / "none"])
