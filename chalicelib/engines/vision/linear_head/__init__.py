"""Linear heads on frozen features, trained step by step: training, pipeline, fit and linear."""
