"""Machine-readable zones of passports and cards: finds, reads and checks them, and fills fields."""
