"""The client and its command against a running stack."""
