"""Linear heads on frozen features, learnt step by step: training, then pipeline, fit and linear."""
