"""Fake edges: which cells of a simple profile were invented? (starshade's own)."""
