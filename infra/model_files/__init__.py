"""Model files: where they come from, how they are converted, checked and installed."""
