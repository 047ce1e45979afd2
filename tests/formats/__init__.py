"""File formats, without AWS."""
