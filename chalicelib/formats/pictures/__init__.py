"""PNG and JPEG images, checked by their headers and decoded with limits."""
