"""Sources that have an address: object stores and other file systems, and databases."""
