"""PDF documents, read by a process of their own."""
