"""Pictures: PNG and JPEG, checked by their headers and decoded in bounds."""
