"""Values and rules of the service; the standard library only."""
