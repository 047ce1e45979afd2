"""Report of a training: metrics, card, data report."""
