"""Finds, reads and checks the machine-readable zone (MRZ) of passports and identity cards."""
