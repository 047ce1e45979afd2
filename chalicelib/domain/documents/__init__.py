"""Images and documents, and what OCR finds in them."""
