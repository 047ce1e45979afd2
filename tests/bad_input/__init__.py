"""Input that nobody should send, over real HTTP: clear refusals, nothing half-written, no hang."""
