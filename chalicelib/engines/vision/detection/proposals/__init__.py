"""Proposals: boxes that a detector shipped with Presage finds, and a head that labels them."""
