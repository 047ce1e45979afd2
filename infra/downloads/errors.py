"""The errors of an installation; their texts say what to do."""

from __future__ import annotations


class InstallError(Exception):
    """An installation failed; when it is started again, it resumes."""


class FetchFailed(InstallError):
    """A package could not be downloaded."""


class DiskFull(InstallError):
    """The disk has not enough space for the model files."""


class BrokenFile(InstallError):
    """A file is not the one in the manifest."""
