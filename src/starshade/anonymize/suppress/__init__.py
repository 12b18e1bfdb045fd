"""Deletion (Sun & Sun 2013, §8): as few records as possible left out."""
