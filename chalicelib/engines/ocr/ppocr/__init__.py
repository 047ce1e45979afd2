"""The PP-OCRv6 engine: a detector and a recogniser on ONNX Runtime, without OpenCV."""
