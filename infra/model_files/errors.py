"""Errors that conversions raise."""

from __future__ import annotations

from infra.downloads.errors import BrokenFile as BrokenFile
from infra.downloads.errors import InstallError


class WrongVectors(InstallError):
    """A converted encoder does not give the reference vectors."""


class WrongOutputs(InstallError):
    """A converted network does not give the reference outputs."""
