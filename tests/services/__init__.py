"""Services on real stores."""
