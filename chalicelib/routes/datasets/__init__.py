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
    uploads,
    version_1,
)

MODULES = (
    datasets,
    uploads,
    examples,
    browsing,
    corrections,
    exports,
    feedback,
    label_descriptions,
    receipts,
    version_1,
)
