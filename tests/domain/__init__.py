"""Rules, without AWS."""
