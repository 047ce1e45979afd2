"""Form templates that are learned from examples."""
