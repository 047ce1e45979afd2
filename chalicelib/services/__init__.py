"""Use cases, one file each; services call stores and engines and never each other."""
