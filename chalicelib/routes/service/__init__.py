"""What the service says about itself, and of what it does by and by."""

from chalicelib.routes.service import deletions, description

OPERATIONS = (
    *deletions.OPERATIONS,
    *description.OPERATIONS,
)
