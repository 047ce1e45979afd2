"""The emulated AWS of the local stack: moto, with missing checks and faster code added."""
