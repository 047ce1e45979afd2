"""Finds near-duplicate texts, and near-duplicates with contradicting labels."""
