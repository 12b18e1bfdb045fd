"""The compact store: written whole, opened memory-mapped."""
