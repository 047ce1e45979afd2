"""Datasets: rows, labels, examples, pictures, receipts, and what waits for its vectors."""
