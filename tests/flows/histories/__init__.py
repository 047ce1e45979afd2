"""Random histories of calls, compared with a model of the specification."""
