"""Writes models as single ONNX graphs, without the package `onnx`."""
