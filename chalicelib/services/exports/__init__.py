"""Exports of datasets: requests, and the jobs that write the files."""
