"""Writes each model as a single ONNX graph, without the package `onnx`."""
