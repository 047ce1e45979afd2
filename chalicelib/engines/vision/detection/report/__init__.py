"""What a training tells: metrics, card, data report."""
