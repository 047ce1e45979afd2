"""The structs of answers, and how domain objects fill them."""
