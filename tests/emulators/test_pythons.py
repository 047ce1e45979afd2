"""A Python that a version manager keeps is found, and one that does not run is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulators.errors import EmulatorError
from tests.emulators.pythons import find_python, managed


def make_python(path: Path, says: str) -> Path:
    """Write a command that says its version as Python does."""
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


def nowhere(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Leave a machine without any Python but that of these tests."""
    monkeypatch.setenv("PATH", str(folder / "bin"))
    for name in ("HOME", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(folder))


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


def test_on_the_path_one_is_used_only_when_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A version manager's shim may be there without any Python behind it."""
    nowhere(monkeypatch, tmp_path)
    make_python(tmp_path / "bin" / "python3.10", "exit 127")
    with pytest.raises(EmulatorError, match=r"apt-get install python3\.10"):
        find_python("3.10")

    (tmp_path / "bin" / "python3.10").write_text("#!/bin/sh\necho 3.10\n")

    assert find_python("3.10") == tmp_path / "bin" / "python3.10"


def test_named_one_must_be_of_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A wrong name is an error, not a reason to take another one."""
    nowhere(monkeypatch, tmp_path)
    other = make_python(tmp_path / "other" / "python", "echo 3.12")
    for path in (other, tmp_path / "missing"):
        monkeypatch.setenv("PYTHON310", str(path))
        with pytest.raises(EmulatorError, match=r"does not run a Python 3\.10"):
            find_python("3.10")
    other.write_text("#!/bin/sh\necho 3.10\n")
    monkeypatch.setenv("PYTHON310", str(other))

    assert find_python("3.10") == other
