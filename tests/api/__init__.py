"""The interface as a caller meets it: raw gateway events through the Chalice object."""
