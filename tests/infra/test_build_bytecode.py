"""Byte code: it is read, is the same each time, and fails in plain words."""

import os
import subprocess
import sys

import pytest

from infra.packaging.target import PackageError
from infra.packaging.trimming import compile_all
from tests.infra.tiny_package import write


def compiled(folder):
    """Return the byte code files below a folder by path."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.pyc")}


def test_byte_code_is_read_whatever_the_sources_time(tmp_path):
    """The flag of PEP 552 makes Python trust the file, and tracebacks name Lambda's folder."""
    write(tmp_path, {"wrong.py": "def fail():\n    raise KeyError('x')\n"})
    compile_all(tmp_path)
    os.utime(tmp_path / "wrong.py", (1, 1))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import wrong; wrong.fail()"
    done = subprocess.run([sys.executable, "-I", "-v", "-c", code], capture_output=True, text=True)
    (content,) = compiled(tmp_path).values()

    assert content[4:8] == b"\x01\0\0\0"
    assert b"/var/task/wrong.py" in content
    assert str(tmp_path).encode() not in content
    assert "KeyError: 'x'" in done.stderr
    assert "code object from" in done.stderr


def test_same_folder_gives_the_same_byte_code(tmp_path, monkeypatch):
    """Neither the place nor the seed of hashes nor Python's settings show in the files."""
    text = "A = frozenset({'a', 'b', 'c'})\nB = [x for x in {1, 2, None} if x in {'p', None}]\n"
    settings = {"one": ("0", ""), "another/place": ("7", "2")}
    for name, (seed, optimized) in settings.items():
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        monkeypatch.setenv("PYTHONOPTIMIZE", optimized)
        write(tmp_path / name, {"a.py": text, "b/c.py": f"from a import A\n{text}"})
        assert compile_all(tmp_path / name).files == 2

    assert len(compiled(tmp_path / "one")) == 2
    assert compiled(tmp_path / "one") == compiled(tmp_path / "another/place")


def test_what_is_not_python_ships_as_source(tmp_path):
    """Templates and old code of packages are named; our own must compile."""
    write(tmp_path, {"package/old.py": "print 'x'\n", "package/new.py": "", "app.py": ""})

    done = compile_all(tmp_path)

    assert done.refused == ["package/old.py"]
    assert done.files == 2
    write(tmp_path, {"chalicelib/broken.py": "def", "chalicelib/null.py": "x = 1\0"})
    with pytest.raises(PackageError, match=r"chalicelib/broken\.py, chalicelib/null\.py\. Output"):
        compile_all(tmp_path)


def test_compiler_that_fails_is_quoted(tmp_path, monkeypatch):
    """What it said reaches the user."""
    write(tmp_path, {"app.py": ""})
    failing = tmp_path / "python"
    failing.write_text("#!/bin/sh\necho no memory left >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr("infra.packaging.trimming.sys.executable", str(failing))

    with pytest.raises(PackageError, match=r"app\.py\. Output of compileall: no memory left"):
        compile_all(tmp_path)
