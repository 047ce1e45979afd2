"""The network that learns to find boxes, and the one that tells crops apart."""
