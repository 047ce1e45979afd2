"""Batches: asking for one, and answering it part by part."""
