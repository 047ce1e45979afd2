"""Datasets, their labels and examples, feedback, and receipts."""
