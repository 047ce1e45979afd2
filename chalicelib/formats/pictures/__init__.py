"""PNG and JPEG images: their headers are checked, and they are decoded within limits."""
