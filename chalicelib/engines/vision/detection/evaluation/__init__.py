"""How good found boxes are."""
