"""Machine-readable zones of passports and cards: found, read, checked, put into fields."""
