"""Examples on the emulated AWS."""
