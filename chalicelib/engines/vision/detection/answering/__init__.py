"""From the head's outputs to boxes of a picture."""
