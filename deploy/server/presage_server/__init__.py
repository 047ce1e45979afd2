"""The distribution `presage-server`: the whole service on one machine."""
