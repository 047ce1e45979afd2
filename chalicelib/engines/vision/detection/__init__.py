"""Detection: frozen networks, a small convolutional head, and an optional look at each crop."""
