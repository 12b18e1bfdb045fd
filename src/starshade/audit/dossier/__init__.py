"""The content of the internal and the public report, as plain data."""
