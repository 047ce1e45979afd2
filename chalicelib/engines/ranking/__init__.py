"""Which samples are most worth labelling."""
