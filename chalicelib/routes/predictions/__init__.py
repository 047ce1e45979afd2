"""What models and prebuilt models say of texts, pictures and documents."""

from chalicelib.routes.predictions import batches, documents, pictures, texts

OPERATIONS = (
    *texts.OPERATIONS,
    *pictures.OPERATIONS,
    *documents.OPERATIONS,
    *batches.OPERATIONS,
)
