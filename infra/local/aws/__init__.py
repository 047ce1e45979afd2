"""The emulated AWS of the local stack: moto, with the checks that it lacks, and faster code."""
