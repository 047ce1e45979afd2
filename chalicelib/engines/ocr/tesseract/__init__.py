"""The second text engine: the program Tesseract, called through pytesseract."""
