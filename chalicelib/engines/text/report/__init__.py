"""Reports of a training: metrics, learning curve, model card and data report."""
