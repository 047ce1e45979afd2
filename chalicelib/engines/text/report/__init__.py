"""What a training tells: metrics, curve, card, data report."""
