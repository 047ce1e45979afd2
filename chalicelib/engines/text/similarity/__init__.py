"""Near-duplicate texts: groups that a split keeps together, and contradictions."""
