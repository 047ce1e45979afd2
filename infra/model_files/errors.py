"""What can go wrong while model files are installed, said so that a person can mend it."""

from __future__ import annotations


class InstallError(Exception):
    """An installation stopped; the text says why and what to do. Starting again resumes it."""


class FetchFailed(InstallError):
    """A package could not be downloaded."""


class DiskFull(InstallError):
    """There is not enough room for the model files."""


class BrokenFile(InstallError):
    """A file is not the one that the manifest names."""


class WrongVectors(InstallError):
    """A converted encoder does not give the reference vectors."""


class WrongOutputs(InstallError):
    """A converted network does not give the reference outputs."""
