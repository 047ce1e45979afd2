"""The structs of answers, and the functions that create them from domain objects."""
