"""Model files: their sources, conversion, verification and installation."""
