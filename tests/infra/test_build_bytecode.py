"""Byte code: it runs, reads back, is the same each time, and fails in plain words."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from infra.model_files.sources import packages
from infra.packaging import bytecode, pyodide
from infra.packaging.bytecode import compile_with, find_python
from infra.packaging.compile_tree import code_file, try_sample
from infra.packaging.errors import NoCompiler, PackageError
from infra.packaging.target import PYC_MAGIC, PYTHON_TAG
from tests.infra.tiny_package import SCRIPT, write

HERE = [sys.executable, "-I", str(SCRIPT)]
MAGIC = importlib.util.MAGIC_NUMBER


def compiled(folder):
    """Return the byte code files below a folder by path."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.pyc")}


def test_byte_code_is_read_whatever_the_sources_time(tmp_path):
    """The flag of PEP 552 makes Python trust the file, and tracebacks name Lambda's folder."""
    write(tmp_path, {"wrong.py": "def fail():\n    raise KeyError('x')\n"})
    compile_with(HERE, tmp_path, "this Python", MAGIC)
    os.utime(tmp_path / "wrong.py", (1, 1))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import wrong; wrong.fail()"
    done = subprocess.run([sys.executable, "-I", "-v", "-c", code], capture_output=True, text=True)
    (content,) = compiled(tmp_path).values()

    assert content[4:8] == b"\x01\0\0\0"
    assert b"/var/task/wrong.py" in content
    assert str(tmp_path).encode() not in content
    assert "KeyError: 'x'" in done.stderr
    assert "code object from" in done.stderr


def test_same_folder_gives_the_same_byte_code(tmp_path):
    """Neither the place nor the seed of hashes shows in the files."""
    text = "A = frozenset({'a', 'b', 'c'})\nB = [x for x in {1, 2, 3} if x in {'p', 'q'}]\n"
    for name in ("one", "another/place"):
        write(tmp_path / name, {"a.py": text, "b/c.py": f"from a import A\n{text}"})
        compile_with(HERE, tmp_path / name, "this Python", MAGIC)

    assert len(compiled(tmp_path / "one")) == 2
    assert compiled(tmp_path / "one") == compiled(tmp_path / "another/place")


def test_what_is_no_python_ships_as_source(tmp_path):
    """Templates and old code of packages are named; our own must compile."""
    write(tmp_path, {"package/old.py": "print 'x'\n", "package/new.py": "", "app.py": ""})

    done = compile_with(HERE, tmp_path, "this Python", MAGIC)

    assert done.refused == ["package/old.py"]
    assert done.files == 2
    write(tmp_path, {"chalicelib/broken.py": "def"})
    with pytest.raises(PackageError, match=r"chalicelib/broken\.py"):
        compile_with(HERE, tmp_path, "this Python", MAGIC)


def test_another_pythons_byte_code_is_refused(tmp_path):
    """A file that the runtime would ignore in silence stops the build."""
    write(tmp_path, {"app.py": ""})

    with pytest.raises(PackageError, match="1 of them for another Python"):
        compile_with(HERE, tmp_path, "this Python", b"\0\0\r\n")


def test_compiler_that_fails_is_quoted(tmp_path):
    """What it said reaches the user."""
    failing = [sys.executable, "-I", "-c", "raise SystemExit('no memory left')"]

    with pytest.raises(PackageError, match="that one could not make byte code: no memory left"):
        compile_with(failing, tmp_path, "that one")


def test_compiler_that_does_nothing_is_noticed(tmp_path):
    """Counting the files tells a compiler that lies."""
    write(tmp_path, {"app.py": ""})
    said = json.dumps({"python": "3.13.0", "platform": "x", "refused": []})

    with pytest.raises(PackageError, match="made 0 byte code files of 1 sources"):
        compile_with([sys.executable, "-I", "-c", f"print({said!r})"], tmp_path, "it", MAGIC)


def test_sample_runs_from_its_byte_code(tmp_path):
    """Imported byte code gives what the source gives, and the sample leaves nothing behind."""
    try_sample(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_broken_byte_code_is_noticed(tmp_path, monkeypatch):
    """A sample that runs differently stops the build."""
    real = code_file

    def other(source, path):
        return real(source.replace(b"3, 4", b"3, 5").replace(b"2.5", b"'y'"), path)

    monkeypatch.setattr("infra.packaging.compile_tree.code_file", other)

    with pytest.raises(ValueError, match="byte code gives"):
        try_sample(tmp_path)


def test_null_bytes_are_no_python(tmp_path):
    """A source that Python refuses for its bytes is refused the same way everywhere."""
    with pytest.raises(SyntaxError):
        code_file(b"x = 1\0", "x.py")


@pytest.fixture
def no_python(monkeypatch, tmp_path):
    """A machine whose own Python is not the target's and whose PATH has none."""
    monkeypatch.delenv(bytecode.variable("3.13"), raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(bytecode.sys, "executable", str(tmp_path / "python"))
    return tmp_path


def make_python(path, version="3.13"):
    """Write a program that answers like a Python of a version."""
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)


def test_python_on_the_path_is_used_only_when_it_runs(no_python):
    """A version manager's shim may be there without any Python behind it."""
    assert find_python() is None
    shim = no_python / "python3.13"
    shim.write_text("#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    assert find_python() is None

    make_python(shim)

    assert find_python() == str(shim)


def test_named_python_must_be_the_targets(no_python, monkeypatch):
    """A wrong name is an error, not a reason to take another one."""
    other = no_python / "other"
    make_python(other, "3.12")
    for name in (str(other), str(no_python / "missing")):
        monkeypatch.setenv(bytecode.variable("3.13"), name)
        with pytest.raises(PackageError, match=r"does not run a Python 3\.13"):
            find_python()

    make_python(other)
    monkeypatch.setenv(bytecode.variable("3.13"), str(other))

    assert find_python() == str(other)


def test_without_any_compiler_the_build_stops(no_python, tmp_path, monkeypatch):
    """Neither a Python nor Pyodide: the text says both."""
    monkeypatch.setattr(
        "infra.model_files.sources.fetch.PIP", (sys.executable, "-c", "raise SystemExit(1)")
    )
    monkeypatch.setattr(bytecode.sys, "executable", "/nonexistent")

    with pytest.raises(NoCompiler, match=r"neither a Python 3\.13 nor Pyodide"):
        bytecode.compile_all(tmp_path, tmp_path / "downloads", lambda line: None)


def test_pyodide_is_pinned_and_credited():
    """It is fetched at one version by digest, and NOTICE names it like the other programs."""
    source = pyodide.PYODIDE
    notice = " ".join((SCRIPT.parents[2] / "NOTICE").read_text().split())

    assert source.registry is packages.Registry.NODE
    assert len(source.sha256) == 64
    assert f"{source.package} {source.version}, under the {source.licence}" in notice


def test_target_is_written_consistently():
    """Tag and magic number are those of one Python."""
    assert PYTHON_TAG == "313"
    assert int.from_bytes(PYC_MAGIC[:2], "little") == 3571
