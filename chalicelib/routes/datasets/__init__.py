"""What is uploaded, examples and labels, feedback, and what became of each upload."""

from chalicelib.routes.datasets import (
    browsing,
    datasets,
    examples,
    exports,
    feedback,
    mending,
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
    *mending.OPERATIONS,
    *exports.OPERATIONS,
    *feedback.OPERATIONS,
    *receipts.OPERATIONS,
)
