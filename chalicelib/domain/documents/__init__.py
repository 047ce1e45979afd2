"""Pictures and documents, and what is found on them."""
