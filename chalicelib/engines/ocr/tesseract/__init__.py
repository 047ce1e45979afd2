"""The second text engine: the program Tesseract, run through pytesseract."""
