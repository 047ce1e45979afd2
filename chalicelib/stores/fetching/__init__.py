"""Downloads from callers' URLs, files uploaded to the bucket, and model files."""
