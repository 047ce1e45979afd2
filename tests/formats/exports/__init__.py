"""Exports of datasets."""
