"""Downloads packages from the registries of Python and Node, each file checked by its digest."""
