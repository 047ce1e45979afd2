"""Batches: accepts requests, and computes the answers to their lines, part by part."""
