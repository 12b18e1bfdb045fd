"""Singling out by isolating predicates (Cohen & Nissim 2020)."""
