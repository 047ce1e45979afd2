"""Reports the size and content of a package, and refuses a package that is too large.

A function may have 250 MB unpacked. The project's own limits are lower, so that growth by a new
version of a dependency is noticed.
"""

from __future__ import annotations

import platform
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from infra.packaging.archive import files_of
from infra.packaging.licences import Shipped
from infra.packaging.lock import LEFT_OUT
from infra.packaging.target import LambdaTarget, PackageError
from infra.packaging.trimming import ByteCode, Stripping

MEGABYTE = 1_000_000
ASSETS = "chalicelib/assets/"
_PARTS = 10


@dataclass(frozen=True)
class Limits:
    """The limits of a package's size."""

    unpacked_bytes: int = 205 * MEGABYTE
    zip_bytes: int = 78 * MEGABYTE


@dataclass(frozen=True)
class Part:
    """A file or folder at the top level of the package."""

    name: str
    unpacked_bytes: int
    packed_bytes: int


@dataclass(frozen=True)
class Weight:
    """The size of a package by its parts."""

    zip_bytes: int
    unpacked_bytes: int
    files: int
    assets_bytes: int
    """Bytes of samples and global datasets, included in the total."""
    parts: tuple[Part, ...]
    """Parts, the largest first."""


def weigh(tree: Path, compressed: Mapping[str, int], zip_bytes: int) -> Weight:
    """Compute the size of a package by its parts.

    Args:
        tree: folder of the unpacked package.
        compressed: compressed size of each file in bytes, by name.
        zip_bytes: size of the zip archive in bytes.
    """
    sizes = {path.relative_to(tree).as_posix(): path.stat().st_size for path in files_of(tree)}
    whole: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, size in sizes.items():
        part = whole[name.partition("/")[0]]
        part[0] += size
        part[1] += compressed[name]
    parts = [Part(name, *both) for name, both in whole.items()]
    return Weight(
        zip_bytes=zip_bytes,
        unpacked_bytes=sum(sizes.values()),
        files=len(sizes),
        assets_bytes=sum(size for name, size in sizes.items() if name.startswith(ASSETS)),
        parts=tuple(sorted(parts, key=lambda part: (-part.unpacked_bytes, part.name))),
    )


def check(weight: Weight, limits: Limits) -> None:
    """Raise PackageError if a package is too large; the message names its largest parts."""
    if weight.unpacked_bytes > limits.unpacked_bytes or weight.zip_bytes > limits.zip_bytes:
        raise PackageError(
            f"The package has {_mb(weight.unpacked_bytes)} unpacked and {_mb(weight.zip_bytes)} "
            f"zipped, allowed are {_mb(limits.unpacked_bytes)} and {_mb(limits.zip_bytes)}. Drop "
            "something in infra/packaging/trimming.py. The largest parts:\n"
            + "\n".join(_part_lines(weight.parts))
        )


def describe(
    target: LambdaTarget,
    digest: str,
    weight: Weight,
    packages: Iterable[Shipped],
    steps: tuple[ByteCode | None, Stripping],
) -> dict[str, Any]:
    """Return the report as JSON members.

    Args:
        target: target of the package.
        digest: sha256 of the zip, hexadecimal.
        weight: size of the package.
        packages: shipped packages.
        steps: result of compiling byte code (None if it was skipped), and result of stripping.
    """
    byte_code, stripping = steps
    return {
        "architecture": target.architecture.name,
        "runtime": target.runtime.name,
        "sha256": digest,
        **{key: value for key, value in asdict(weight).items() if key != "parts"},
        "largest_parts": [asdict(part) for part in weight.parts[:_PARTS]],
        "byte_code": asdict(byte_code) if byte_code else None,
        "stripped": asdict(stripping) if stripping.program else None,
        "packages": [asdict(package) for package in packages],
        "left_out": LEFT_OUT,
        "builder": {"python": platform.python_version(), "zlib": zlib.ZLIB_RUNTIME_VERSION},
    }


def render(report: Mapping[str, Any]) -> str:
    """Format the report for people."""
    byte_code, stripped = report["byte_code"], report["stripped"]
    lines = [
        f"Package for {report['runtime']} on {report['architecture']}",
        f"  sha256       {report['sha256']}",
        f"  unpacked     {_mb(report['unpacked_bytes'])} in {report['files']} files",
        f"  zipped       {_mb(report['zip_bytes'])}",
        f"  assets       {_mb(report['assets_bytes'])} (samples and global datasets)",
        "  byte code    " + _byte_code_line(byte_code),
        "  stripped     " + _strip_line(stripped),
        f"  built with   Python {report['builder']['python']}, zlib {report['builder']['zlib']}",
        "Largest parts (unpacked, zipped)",
        *_part_lines(Part(**part) for part in report["largest_parts"]),
        "Packages",
        *(f"  {p['name']:18} {p['version']:14} {p['licence']}" for p in report["packages"]),
        "Left out",
        *(f"  {name:18} {why}" for name, why in report["left_out"].items()),
    ]
    return "\n".join(lines) + "\n"


def _byte_code_line(byte_code: Mapping[str, Any] | None) -> str:
    if byte_code is None:
        return "NONE: cold starts take seconds longer"
    refused = f", {len(byte_code['refused'])} left as sources" if byte_code["refused"] else ""
    return f"{byte_code['files']} files by {byte_code['compiler']}{refused}"


def _strip_line(stripped: Mapping[str, Any] | None) -> str:
    if stripped is None:
        return "no: this machine has no strip for that processor"
    saved = _mb(stripped["saved_bytes"])
    return f"{stripped['files']} files, {saved} less, by {stripped['program']}"


def _part_lines(parts: Iterable[Part]) -> list[str]:
    """Write a line for each of the largest parts."""
    return [
        f"  {part.name:18} {_mb(part.unpacked_bytes):>9} {_mb(part.packed_bytes):>9}"
        for part in list(parts)[:_PARTS]
    ]


def _mb(size: int) -> str:
    return f"{size / MEGABYTE:.1f} MB"
