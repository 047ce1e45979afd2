"""Commands of the administrator and the developer."""
