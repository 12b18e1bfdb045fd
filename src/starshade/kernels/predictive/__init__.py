"""Groups of padded rows, their profiles, and what profiles show (PA §4, §5)."""
