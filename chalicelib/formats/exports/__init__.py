"""Writes exports of examples (which can be uploaded again), models and tables; reads models."""
