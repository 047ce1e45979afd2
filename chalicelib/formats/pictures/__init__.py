"""Checks the headers of PNG and JPEG images, and decodes the images within limits."""
