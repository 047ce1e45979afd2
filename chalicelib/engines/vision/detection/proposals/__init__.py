"""Boxes proposed by the detector that ships with Presage, and the head that labels them."""
