"""Every operation of the interface: one module a resource, views of a few lines."""

from chalicelib.routes import (
    bulk_feedback,
    datasets,
    deletions,
    examples,
    feedback,
    incoming,
    models,
    oauth,
    ocr,
    picture_predictions,
    predictions,
    receipts,
    service,
    training,
    uploads,
    usage,
)

OPERATIONS = (
    *oauth.OPERATIONS,
    *usage.OPERATIONS,
    *datasets.OPERATIONS,
    *uploads.OPERATIONS,
    *incoming.OPERATIONS,
    *examples.OPERATIONS,
    *feedback.OPERATIONS,
    *bulk_feedback.OPERATIONS,
    *training.OPERATIONS,
    *models.OPERATIONS,
    *receipts.OPERATIONS,
    *predictions.OPERATIONS,
    *picture_predictions.OPERATIONS,
    *ocr.OPERATIONS,
    *deletions.OPERATIONS,
    *service.OPERATIONS,
)
