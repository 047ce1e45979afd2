"""A Python that a version manager keeps is found, and one that does not run is not."""

from __future__ import annotations

from pathlib import Path

from tests.emulators.pythons import managed


def make_python(path: Path, says: str) -> Path:
    """Write a command that says its version as Python does."""
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


def test_newest_that_runs_is_found(tmp_path: Path):
    """The folder of pyenv is looked through before uv's; what cannot run is passed over."""
    given = {"HOME": str(tmp_path)}
    pyenv, uv = tmp_path / ".pyenv" / "versions", tmp_path / ".local" / "share" / "uv" / "python"

    assert managed("3.13", given) is None
    of_uv = make_python(uv / "cpython-3.13.5-linux" / "bin" / "python3.13", "echo 3.13")
    assert managed("3.13", given) == of_uv
    of_pyenv = make_python(pyenv / "3.13.0" / "bin" / "python3.13", "echo 3.13")
    make_python(pyenv / "3.13.1" / "bin" / "python3.13", "exit 127")
    make_python(pyenv / "3.12.1" / "bin" / "python3.12", "echo 3.12")
    assert managed("3.13", given) == of_pyenv
    assert managed("3.14", given) is None


def test_folders_that_are_named_come_first(tmp_path: Path):
    """The managers' own variables say where their Pythons lie."""
    found = make_python(tmp_path / "mine" / "versions" / "3.13" / "bin" / "python3.13", "echo 3.13")

    assert managed("3.13", {"PYENV_ROOT": str(tmp_path / "mine")}) == found
    assert managed("3.13", {}) is None
