"""Trains linear heads on frozen features, step by step."""
