"""Models: rows, runs, published files, learning curves, checkpoints."""
