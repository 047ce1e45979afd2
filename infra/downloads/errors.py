"""The errors of an installation; their messages have the remedy."""

from __future__ import annotations


class InstallError(Exception):
    """An installation failed; a repeated installation resumes."""


class FetchFailed(InstallError):
    """A package could not be downloaded."""


class DiskFull(InstallError):
    """The disk does not have enough space for the model files."""


class BrokenFile(InstallError):
    """A file has another digest than in the manifest."""
