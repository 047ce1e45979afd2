"""Values and rules of the service. Imports only the standard library, numpy and msgspec."""
