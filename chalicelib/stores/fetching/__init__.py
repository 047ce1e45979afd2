"""Reads files from callers' URLs and presigned forms, and model files from the bucket."""
