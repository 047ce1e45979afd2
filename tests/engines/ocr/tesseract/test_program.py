"""Finding the Tesseract program, and running it from a read-only package."""

import shutil
import subprocess
import sys

import pytest

from chalicelib.engines.ocr.tesseract import program
from chalicelib.engines.ocr.tesseract.program import Executable, Program, find_program


@pytest.fixture(autouse=True)
def clear_cache():
    """Clear the cached location before every test."""
    for function in (program.find_program, program.data_sha256):
        function.cache_clear()
    yield
    for function in (program.find_program, program.data_sha256):
        function.cache_clear()


def test_the_package_brings_program_and_data():
    """The package contains program and data, so nothing of the system is needed."""
    found = find_program()

    assert found.path.is_relative_to(sys.prefix)
    assert (found.data / "eng.traineddata").is_file()
    assert len(program.data_sha256()) == 64


def test_the_systems_program_serves_without_the_package(monkeypatch, tmp_path):
    """Without the package the program on the PATH is used, with its own data."""
    monkeypatch.setattr(program, "_PACKAGE", "no_such_package")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() is None
    assert program.data_sha256() == ""
    find_program.cache_clear()
    program.data_sha256.cache_clear()
    (tmp_path / "tesseract").write_text("#!/bin/sh\n")
    (tmp_path / "tesseract").chmod(0o755)

    assert find_program() == Program(tmp_path / "tesseract", None)
    assert len(program.data_sha256()) == 64


def test_a_package_without_data_is_not_used(monkeypatch, tmp_path):
    """A package without English data is not used."""
    (tmp_path / "half" / "data" / "bin").mkdir(parents=True)
    (tmp_path / "half" / "__init__.py").touch()
    (tmp_path / "half" / "data" / "bin" / "tesseract").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(program, "_PACKAGE", "half")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_program() is None


def test_a_program_that_may_not_be_executed_is_copied(tmp_path):
    """A program without its executable bit is copied and run from there."""
    found = find_program()
    plain = Program(tmp_path / "tesseract", found.data)
    shutil.copyfile(found.path, plain.path)
    plain.path.chmod(0o400)

    executable = Executable(plain)
    said = subprocess.run([executable.path, "--version"], capture_output=True, check=True)

    assert b"tesseract 5" in said.stdout
    assert executable.path != plain.path
    folder = executable.path.parent
    del executable
    assert not folder.exists()
    assert Executable(found).path == found.path
