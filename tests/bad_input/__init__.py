"""Invalid and hostile input over real HTTP: clear refusals, nothing half-written, no hang."""
