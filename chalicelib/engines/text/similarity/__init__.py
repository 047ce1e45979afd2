"""Near-duplicate texts: groups that stay on one side of a split, and contradicting labels."""
