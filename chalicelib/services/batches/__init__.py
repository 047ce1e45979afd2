"""Batches: accepting requests, and answering the lines part by part."""
