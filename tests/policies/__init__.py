"""What each deployed function may do is exactly what it does: AWS calls against policies."""
