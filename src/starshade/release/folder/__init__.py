"""A release as a folder: written and read whole, its receipt kept apart (DESIGN §4)."""
