"""Batches: accepts lists of inputs (lines), and computes the answers to the lines part by part."""
