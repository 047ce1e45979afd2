"""Predictions for texts and images, readings of documents, batches and rankings."""

from chalicelib.routes.predictions import batches, documents, pictures, texts

OPERATIONS = (
    *texts.OPERATIONS,
    *pictures.OPERATIONS,
    *documents.OPERATIONS,
    *batches.OPERATIONS,
)
