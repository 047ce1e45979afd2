"""Examples: chunks, digests, names, pictures, and what waits for its vectors."""
