"""Finds boxes (proposals) with a detector that ships with Presage, and labels them with a head."""
