"""Datasets, uploads, examples and labels, corrections, exports, feedback, receipts."""

from chalicelib.routes.datasets import (
    browsing,
    corrections,
    datasets,
    examples,
    exports,
    feedback,
    label_descriptions,
    receipts,
    upload_forms,
    uploads,
    version_1,
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
    *label_descriptions.OPERATIONS,
    *receipts.OPERATIONS,
    *version_1.OPERATIONS,
)
