"""A release as a folder: written and read whole, its receipt kept apart."""
