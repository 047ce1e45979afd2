"""PDF documents, each read by a separate process."""
