"""The emulated AWS of the local stack: moto, with additional checks and faster code."""
