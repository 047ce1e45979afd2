"""Describes a model that can be installed, and the packages from which it is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from infra.downloads.errors import InstallError
from infra.downloads.packages import MEGABYTE, Progress, Source


class WrongVectors(InstallError):
    """A converted encoder does not give the reference vectors."""


class WrongOutputs(InstallError):
    """A converted network does not give the reference outputs."""


@dataclass(frozen=True)
class ModelDescription:
    """One model that can be installed."""

    name: str
    folder: str
    """Folder in the model directory."""
    title: str
    """The name that the model's authors use."""
    changes: str
    """What the conversion changes in the files, for NOTICE and cards."""
    converter: str = ""
    """Module and function, such as `conversion.networks:build`, below infra.model_files."""
    installed_bytes: int = MEGABYTE // 10
    """Approximate size of the installed files."""
    working_bytes: int = MEGABYTE // 10
    """Approximate working space of the conversion, without the downloads."""
    sources: tuple[Source, ...] = ()
    """Packages, beginning with the weights; empty if the model is made only from `needs`."""
    recipe: int = 1
    """Number to increase when the conversion changes, so that installed files are replaced."""
    dimensions: int = 0
    """Length of an encoder's vectors; 0 for other models."""
    needs: tuple[str, ...] = ()
    """Names of the models from which this model is made."""
    own_files: tuple[Path, ...] = ()
    """Small files of this repository from which the model is made."""

    @property
    def archive_bytes(self) -> int:
        """Return the size of the model's packages."""
        return sum(source.archive_bytes for source in self.sources)


@dataclass(frozen=True)
class Conversion:
    """The input and output folders of a converter."""

    model: ModelDescription
    directory: Path
    """The model directory. It contains the installed models that this model needs."""
    source: Path
    """Folder with the files of the packages, which the converter may remove."""
    result: Path
    """Existing empty folder to write the model's files to."""
    progress: Progress
