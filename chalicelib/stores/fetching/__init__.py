"""Reads files: from callers' URLs, from presigned forms, and model files from the bucket."""
