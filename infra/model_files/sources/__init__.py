"""What model files are made from: packages, their download, and readers of their formats."""
