"""The description of the interface, for programs and for people."""
