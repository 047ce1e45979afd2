"""Installations in processes of their own: killed in the middle, two at once, out of room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infra.model_files import install as installation
from infra.model_files import installed, manifest
from tests.infra.model_files.tiny_models import NAMES, make_model

ROOT = Path(__file__).parents[3]


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of packages, and a manifest of what they give."""
    folder = tmp_path / "index"
    folder.mkdir()
    known = {name: make_model(folder, name) for name in NAMES}
    monkeypatch.setattr(installation, "MODELS", known)
    monkeypatch.setattr(manifest, "MODELS", known)
    return folder


@pytest.fixture
def start(index):
    """Begins an installation in another process; none outlives its test."""
    begun = []

    def begin(how):
        folder = str(index.parent / "models")
        command = [
            sys.executable,
            "-m",
            "tests.infra.model_files.installing",
            str(index),
            folder,
            how,
        ]
        begun.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def finish(process, code=0):
    """Wait for the end of an installation and return what it said."""
    said, _ = process.communicate(timeout=60)
    assert process.returncode == code, said
    return said


def kill_at_the_moment(process):
    """Kill a process once it says that the moment has come."""
    assert process.stdout.readline() == "now\n"
    process.kill()
    process.wait(60)


def test_a_kill_leaves_nothing_half_installed(index, start):
    """After a kill finished models stay, and the next installation makes the rest."""
    folder = index.parent / "models"

    kill_at_the_moment(start("killed while converting"))

    assert installation.missing(folder, NAMES) == ["second"]
    assert not (folder / "nested/second").exists()
    finish(start("plain"))
    assert installation.missing(folder, NAMES) == []
    assert not (folder / installed.STAGING).exists()


def test_a_kill_while_a_folder_is_replaced_leaves_none(index, start):
    """After a kill during a replacement no mixed folder is left."""
    folder = index.parent / "models"
    finish(start("plain"))
    (folder / "nested/second/weights.bin").write_bytes(b"broken")

    kill_at_the_moment(start("killed between renames"))

    assert not (folder / "nested/second").exists()
    assert installation.missing(folder, NAMES) == ["second"]
    finish(start("plain"))
    assert installation.missing(folder, NAMES) == []


def test_two_at_once_make_everything_once(index, start):
    """A second process waits and finds all done."""
    both = [start("at once") for _ in range(2)]

    said = "".join(finish(process) for process in both)

    assert sorted(said.splitlines()) == ["made first", "made second"]
    assert installation.missing(index.parent / "models", NAMES) == []


def test_a_write_that_was_cut_short_says_how_much_room_is_needed(index, start):
    """If an array does not fit on disk, the error has size, folder and setting."""
    folder = index.parent / "models"

    said = finish(start("no room"), 1)

    assert said.startswith("DiskFull: Not enough disk space for the model files: free ")
    assert f"the disk of {folder}, or set PRESAGE_MODEL_DIR" in said
    assert installation.missing(folder, NAMES) == ["second"]
    assert not (folder / "nested/second").exists()
