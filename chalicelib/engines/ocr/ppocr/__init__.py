"""The PP-OCRv6 engine: a detection and a recognition network on ONNX Runtime, without OpenCV."""
