"""Linear heads on frozen features, trained step by step."""
