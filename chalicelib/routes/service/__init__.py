"""What the service says about itself, and of what it does by and by."""

from chalicelib.routes.service import console, deletions, description

OPERATIONS = (
    *deletions.OPERATIONS,
    *console.OPERATIONS,
    *description.OPERATIONS,
)
