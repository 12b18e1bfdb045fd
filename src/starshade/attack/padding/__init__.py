"""Padding: which cells of an averaged profile rest on a real rating? (starshade's own)."""
