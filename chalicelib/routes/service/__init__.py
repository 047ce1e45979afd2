"""Deletions, the console, and descriptions of the service."""

from chalicelib.routes.service import console, deletions, description

OPERATIONS = (
    *deletions.OPERATIONS,
    *console.OPERATIONS,
    *description.OPERATIONS,
)
