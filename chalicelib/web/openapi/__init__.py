"""The description of the API, as a document for programs and as a web page."""
