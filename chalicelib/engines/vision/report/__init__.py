"""What cards of all picture models have in common."""
