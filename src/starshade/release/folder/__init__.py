"""A release as a folder: written whole, read only when whole, its receipt kept apart (DESIGN §4)."""
