"""Exports of datasets and models: requests, and the jobs that write the files."""
