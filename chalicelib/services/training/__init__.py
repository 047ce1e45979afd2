"""Models: requests to train, the runs, learning from texts and pictures, what is shown."""
