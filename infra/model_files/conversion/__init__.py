"""Converts the files of the networks' authors to the networks that the service runs."""
