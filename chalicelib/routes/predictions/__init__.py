"""Predictions for texts and images, OCR of documents, form templates, batches and rankings."""

from chalicelib.routes.predictions import batches, documents, pictures, templates, texts

MODULES = (
    texts,
    pictures,
    documents,
    templates,
    batches,
)
