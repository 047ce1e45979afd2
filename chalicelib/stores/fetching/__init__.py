"""What is brought from elsewhere: URLs of callers, files put into the bucket, model files."""
