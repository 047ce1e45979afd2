"""The emulated AWS of the local stack: moto, with what it leaves unchecked or does slowly."""
