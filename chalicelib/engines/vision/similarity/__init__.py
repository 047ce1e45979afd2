"""Near-duplicate images."""
