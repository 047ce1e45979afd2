"""The local stack: emulated AWS, HTTP front and queue workers on 127.0.0.1."""
