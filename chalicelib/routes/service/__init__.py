"""Status of deletions, the console, health, and the API documentation."""

from chalicelib.routes.service import console, deletions, description

MODULES = (
    deletions,
    console,
    description,
)
