"""Reports of a training: metrics, learning curve, card and data report."""
