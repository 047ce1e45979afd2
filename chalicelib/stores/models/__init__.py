"""Models: rows, leases of runs, files of versions, learning curves, checkpoints."""
