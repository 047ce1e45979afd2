"""Makes the networks that the service runs out of the makers' files."""
