"""Report of a training: metrics, curve, card, data report."""
