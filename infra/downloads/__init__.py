"""Downloads packages from the registries of Python and Node, and verifies their digests."""
