"""The sources of model files: packages, their download, and readers of their formats."""
