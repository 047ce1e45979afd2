"""Predictions for texts and images, OCR of documents, form templates, batches and rankings."""

from chalicelib.routes.predictions import batches, documents, pictures, templates, texts

OPERATIONS = (
    *texts.OPERATIONS,
    *pictures.OPERATIONS,
    *documents.OPERATIONS,
    *templates.OPERATIONS,
    *batches.OPERATIONS,
)
