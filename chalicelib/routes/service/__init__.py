"""Status of deletions, the console, health, and the API documentation."""

from chalicelib.routes.service import console, deletions, description

OPERATIONS = (
    *deletions.OPERATIONS,
    *console.OPERATIONS,
    *description.OPERATIONS,
)
