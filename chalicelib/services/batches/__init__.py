"""Batches: accept them, and answer them part by part."""
