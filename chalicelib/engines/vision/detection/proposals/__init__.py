"""Boxes that the shipped detector proposes, and the head that labels them."""
