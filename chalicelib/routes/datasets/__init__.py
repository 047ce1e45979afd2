"""What is uploaded, examples and labels, feedback, and what became of each upload."""

from chalicelib.routes.datasets import (
    browsing,
    corrections,
    datasets,
    examples,
    exports,
    feedback,
    receipts,
    upload_forms,
    uploads,
)

OPERATIONS = (
    *datasets.OPERATIONS,
    *uploads.OPERATIONS,
    *upload_forms.OPERATIONS,
    *examples.OPERATIONS,
    *browsing.OPERATIONS,
    *corrections.OPERATIONS,
    *exports.OPERATIONS,
    *feedback.OPERATIONS,
    *receipts.OPERATIONS,
)
